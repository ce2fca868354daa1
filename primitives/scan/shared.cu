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
#include "primitives/kernel/kernel.cuh"
#include "primitives/kernel/look_back.cuh"
#include "primitives/primitives.h"
#include "look_ahead.cuh"
#include "warp_part.cuh"

template <typename T> struct tile_job {
	const T *in;
	T *out;
	uint64_t n;
	bool inclusive;
	struct sl_look_back<T> before;
};

/*
 * For the first warp: sums of warps become sums of all items before each warp, in this tile and all
 * tiles before.
 */
template <typename T>
static __device__ inline void scan_sums(
	T *sums, uint32_t warps, struct sl_look_back<T> before, uint32_t tile)
{
	uint32_t lane = threadIdx.x;
	T own = lane < warps ? sums[lane] : 0;
	T through = scan_warp(own, lane);
	T total = __shfl_sync(SL_LANES, through, LANES - 1);
	T start = sl_look_back_sum(before, tile, total);

	if (lane < warps)
		sums[lane] = start + through - own;
}

/*
 * One block a tile of blockDim.x * VECTORS vectors, blocks of whole warps, shared memory by
 * shared_bytes(). The 1 of the bounds allows 64 registers: all vectors on their way, and no spill.
 */
template <typename T, uint32_t VECTORS>
static __global__ void __launch_bounds__(LANES *WARPS_MOST, 1) tile_kernel(struct tile_job<T> job)
{
	using warp_part = struct part<T, VECTORS>;
	SL_SHARED_DYNAMIC(struct vector<T>, vectors);
	T *sums = (T *)(vectors + blockDim.x * VECTORS); /* one a warp */
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
	sl_wait_for_last();
	uint32_t tile = gridDim.x > 1 ? sl_look_back_ticket(job.before) : 0;
	uint64_t first = ((uint64_t)tile * warps + warp) * warp_part::items;
	warp_part p = {
		lane, first, first < job.n ? job.n - first : 0, vectors + warp * LANES * VECTORS};

	read_part(p, job.in);
	__syncwarp();
	T own = sum_items(p);
	T through = scan_warp(own, lane);
	if (lane == LANES - 1)
		sums[warp] = through;
	__syncthreads();
	if (warp == 0)
		scan_sums(sums, warps, job.before, tile);
	__syncthreads();
	scan_items(p, (T)(sums[warp] + through - own), job.inclusive);
	__syncwarp();
	write_part(p, job.out);
}

/* --- host ------------------------------------------------------------------------------------- */

/* 128 bytes a thread are on their way, in tiles of 32 KiB: what keeps a Hopper's memory busy. */
static constexpr struct sl_tuning BY_DEFAULT = {256, 32};

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
	return tile_bytes(tuning) + WARPS_MOST * bytes_of(type);
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
static constexpr struct sl_tuning FOR_FEW = {512, 8}, FOR_MANY = {512, 32};
static constexpr uint64_t FEW_BYTES = 1 << 20, MANY_BYTES = 8 << 20;
static constexpr uint32_t TILES_AHEAD = 6;

/* For either kernel, and as many tiles as few bytes may have. */
template <typename T> static size_t scratch_for(const struct sl_shape *most)
{
	uint32_t own = tiles_for(most->n, most->tuning, most->type);
	uint32_t few = tiles_for(FEW_BYTES / sizeof(T), FOR_FEW, most->type);
	struct sl_arena back = {}, ahead = {};

	sl_look_back_cut<T>(&back, own > few ? own : few);
	look_ahead_cut<T, look_ahead_best>(&ahead, most->n);
	return back.used > ahead.used ? back.used : ahead.used;
}

static size_t scratch(const struct sl_shape *most)
{
	return most->type == SL_U32 ? scratch_for<uint32_t>(most) : scratch_for<uint64_t>(most);
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
		SL_TRY(sl_look_back_clear(t.before, x->stream));
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
	using plan = look_ahead_best;
	uint32_t tiles = look_ahead_tiles<plan>(job->n, look_ahead_off(job, sizeof(T)), sizeof(T));
	struct sl_limits limits;

	*blocks = 0;
	*tuning = x->tuning;
	if (tuning->block != BY_DEFAULT.block || tuning->items != BY_DEFAULT.items)
		return SL_OK;
	if (tiles_for(job->n, BY_DEFAULT, job->type) > 1 && job->n * sizeof(T) < FEW_BYTES)
		*tuning = FOR_FEW;
	if (tiles < TILES_AHEAD)
		return SL_OK;
	SL_TRY(sl_device_limits(&limits));
	if (job->n * sizeof(T) >= MANY_BYTES &&
		limits.shared_bytes >= shared_bytes(FOR_MANY, job->type))
		*tuning = FOR_MANY;
	if (can_look_ahead(job) && tiles >= TILES_AHEAD * limits.multiprocessors &&
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
		return look_ahead_run<T, look_ahead_best>(x, job, blocks);
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
	.tunable = {.block = BY_DEFAULT.block,
		.block_step = LANES,
		.block_most = LANES * WARPS_MOST,
		.items = BY_DEFAULT.items,
		.items_can = {4, 8, 16, 32},
		.shared_bytes = shared_bytes},
	.scratch = scratch,
	.scan = run,
};
