/*
 * scan/shared.cu - one pass over tiles in shared memory, joined by look-back.
 *
 * A block takes the next tile, reads it into shared memory, and sums it up: each thread its own
 * consecutive items, a warp its threads by shuffles (Hillis and Steele over 32 lanes), the first
 * warp the warps. The sum of all tiles before comes by decoupled look-back (look_back.cuh; Merrill
 * and Garland, 2016). Then each thread runs through its items once more, from the sum before them,
 * and the tile is written.
 *
 * Over work_efficient: an item is read once and written once, 8 bytes for u32 where the tree in
 * global memory moves 32, and there are 2 operations on the stream instead of 2 log2 n; 1, when all
 * is one tile.
 *
 * For large n, devices from Hopper on have a kernel of their own (look_ahead.cuh). It has no
 * tuning: any other than the one by default is this file's.
 */
#include "primitives/base/kernel.cuh"
#include "primitives/base/look_back.cuh"
#include "primitives/primitives.h"
#include "look_ahead.cuh"
#include "warp_part.cuh"

template <typename T> struct tile_job {
	const T *in;
	T *out;
	uint64_t n;
	bool inclusive;
	struct sl_look_back<T> tile_states;
};

/*
 * For the first warp: sums of warps become sums of all items before each warp, in this tile and all
 * tiles before.
 */
template <typename T>
static __device__ inline void add_prefix_to_warp_sums(
	T *warp_sum, uint32_t warps, struct sl_look_back<T> tile_states, uint32_t tile)
{
	uint32_t lane = threadIdx.x;
	T lane_sum = lane < warps ? warp_sum[lane] : 0;
	T lane_scan = scan_warp(lane_sum, lane);
	T total = __shfl_sync(SL_LANES, lane_scan, LANES - 1);
	T start = sl_look_back_sum(tile_states, tile, total);

	if (lane < warps)
		warp_sum[lane] = start + lane_scan - lane_sum;
}

/*
 * One block a tile of blockDim.x * VECTORS vectors, blocks of whole warps, shared memory by
 * shared_bytes(). The 1 of the bounds allows 64 registers: all vectors on their way, and no spill.
 */
template <typename T, uint32_t VECTORS>
static __global__ void __launch_bounds__(LANES *WARPS_MAX, 1) tile_kernel(struct tile_job<T> job)
{
	using warp_part = struct part<T, VECTORS>;
	SL_SHARED_DYNAMIC(struct vector<T>, vectors);
	T *warp_sum = (T *)(vectors + blockDim.x * VECTORS); /* one a warp */
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
	sl_wait_for_last();
	uint32_t tile = gridDim.x > 1 ? sl_look_back_ticket(job.tile_states) : 0;
	uint64_t first = ((uint64_t)tile * warps + warp) * warp_part::items;
	warp_part p = {
		lane, first, first < job.n ? job.n - first : 0, vectors + warp * LANES * VECTORS};

	read_part(p, job.in);
	__syncwarp();
	T lane_sum = sum_items(p);
	T lane_scan = scan_warp(lane_sum, lane);
	if (lane == LANES - 1)
		warp_sum[warp] = lane_scan;
	__syncthreads();
	if (warp == 0)
		add_prefix_to_warp_sums(warp_sum, warps, job.tile_states, tile);
	__syncthreads();
	scan_items(p, (T)(warp_sum[warp] + lane_scan - lane_sum), job.inclusive);
	__syncwarp();
	write_part(p, job.out);
}

/* --- host ------------------------------------------------------------------------------------- */

/* 128 bytes a thread are on their way, in tiles of 32 KiB: what keeps a Hopper's memory busy. */
static constexpr struct sl_tuning DEFAULT_TUNING = {256, 32};

/*
 * Items are counted as of 4 bytes: of u64 a thread does half as many, so that a tile has the same
 * bytes and what is good for one type is good for the other.
 */
static uint32_t tile_bytes(struct sl_tuning tuning)
{
	return tuning.block * tuning.items * (uint32_t)sizeof(uint32_t);
}

static size_t bytes_of(enum sl_type type)
{
	return type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* A tile, and a sum a warp. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	return tile_bytes(tuning) + WARPS_MAX * bytes_of(type);
}

/* Tiles of 512 bytes at least, so that they are always fewer than a grid may have blocks. */
static uint32_t tiles_for(uint32_t n, struct sl_tuning tuning, enum sl_type type)
{
	return (uint32_t)((n * (uint64_t)bytes_of(type) + tile_bytes(tuning) - 1) /
			  tile_bytes(tuning));
}

/*
 * By default other jobs are done otherwise. More than a tile, but not so many bytes: in smaller
 * tiles, of 16 KiB, which are sooner done. From so many bytes on tiles of 64 KiB are better; and
 * from so many tiles of 32 KiB a multiprocessor on, look-ahead, where there is one. With fewer, its
 * blocks spend their time on filling and emptying their stages. (On an H200: up to 2^18 u32; from
 * 2^21 u32 on; from 2^23.)
 */
static constexpr struct sl_tuning SMALL_TUNING = {512, 8}, LARGE_TUNING = {512, 32};
static constexpr uint64_t SMALL_BYTES = 1 << 20, LARGE_BYTES = 8 << 20;
static constexpr uint32_t LOOK_AHEAD_TILES = 6;

/* For either kernel, and as many tiles as few bytes may have. */
template <typename T> static size_t scratch_for(const struct sl_shape *shape)
{
	uint32_t tuned_tiles = tiles_for(shape->n, shape->tuning, shape->type);
	uint32_t small_tiles = tiles_for(SMALL_BYTES / sizeof(T), SMALL_TUNING, shape->type);
	struct sl_arena arena_back = {}, arena_ahead = {};

	sl_look_back_cut<T>(&arena_back, tuned_tiles > small_tiles ? tuned_tiles : small_tiles);
	look_ahead_cut<T, look_ahead_default>(&arena_ahead, shape->n);
	return arena_back.used > arena_ahead.used ? arena_back.used : arena_ahead.used;
}

static size_t scratch(const struct sl_shape *shape)
{
	return shape->type == SL_U32 ? scratch_for<uint32_t>(shape) : scratch_for<uint64_t>(shape);
}

template <typename T, uint32_t VECTORS>
static enum sl_status launch(
	struct sl_exec *x, const struct sl_scan_job *job, struct sl_tuning tuning)
{
	uint32_t tiles = tiles_for(job->n, tuning, job->type);
	struct sl_arena a = x->scratch;
	const tile_job<T> t = {(const T *)job->in, (T *)job->out, job->n, job->inclusive,
		sl_look_back_cut<T>(&a, tiles)};

	if (tiles > 1) /* one asks for none, so nobody reads what it knows */
		SL_TRY(sl_look_back_clear(t.tile_states, x->stream));
	return sl_launch_early("tile_kernel", tile_kernel<T, VECTORS>, tiles, tuning.block,
		shared_bytes(tuning, job->type), x->stream, t);
}

static bool can_look_ahead(const struct sl_scan_job *job)
{
	return ((uintptr_t)job->in - (uintptr_t)job->out) % VECTOR_BYTES == 0;
}

/* The tuning, and how many blocks look ahead: 0, none. Small jobs do not ask the device. */
template <typename T>
static enum sl_status choose(const struct sl_exec *x, const struct sl_scan_job *job,
	struct sl_tuning *tuning, uint32_t *blocks)
{
	using plan = look_ahead_default;
	uint32_t tiles = look_ahead_tiles<plan>(job->n, look_ahead_lead(job, sizeof(T)), sizeof(T));
	struct sl_limits limits;

	*blocks = 0;
	*tuning = x->tuning;
	if (tuning->block != DEFAULT_TUNING.block || tuning->items != DEFAULT_TUNING.items)
		return SL_OK;
	if (tiles_for(job->n, DEFAULT_TUNING, job->type) > 1 && job->n * sizeof(T) < SMALL_BYTES)
		*tuning = SMALL_TUNING;
	if (tiles < LOOK_AHEAD_TILES)
		return SL_OK;
	SL_TRY(sl_device_limits(&limits));
	if (job->n * sizeof(T) >= LARGE_BYTES &&
		limits.shared_bytes >= shared_bytes(LARGE_TUNING, job->type))
		*tuning = LARGE_TUNING;
	if (can_look_ahead(job) && tiles >= LOOK_AHEAD_TILES * limits.multiprocessors &&
		limits.shared_bytes >= look_ahead_shared_bytes<T, plan>() &&
		sl_compiled_for(look_ahead_kernel<T, plan>) >= SL_BULK_CAPABILITY)
		*blocks = limits.multiprocessors;
	return SL_OK;
}

template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_tuning tuning;
	uint32_t blocks;

	SL_TRY(choose<T>(x, job, &tuning, &blocks));
	if (blocks > 0)
		return look_ahead_run<T, look_ahead_default>(x, job, blocks);
	switch (tuning.items) {
	case 4:
		return launch<T, 1>(x, job, tuning);
	case 8:
		return launch<T, 2>(x, job, tuning);
	case 16:
		return launch<T, 4>(x, job, tuning);
	default:
		return launch<T, 8>(x, job, tuning);
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (job->n == 0)
		return SL_OK;
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_scan_shared) = {
	.name = "shared",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Merrill and Garland, one pass over tiles in shared memory with look-back; by "
		"default, large n on Hopper: look-ahead",
	.tunable = {.block = DEFAULT_TUNING.block,
		.block_step = LANES,
		.block_most = LANES * WARPS_MAX,
		.items = DEFAULT_TUNING.items,
		.items_can = {4, 8, 16, 32},
		.shared_bytes = shared_bytes},
	.scratch = scratch,
	.scan = run,
};
