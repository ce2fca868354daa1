/*
 * scan/shared.cu - a single-pass scan: tiles in shared memory, joined by decoupled look-back.
 *
 * Last of the device backends naive -> work_efficient -> tiled -> shared.
 *
 * A block takes the next tile by a ticket, loads it into shared memory and reduces it: each thread
 * sums its own consecutive items, each warp scans its lanes with shuffles (Hillis-Steele over 32
 * lanes), and the first warp scans the warp sums. Decoupled look-back (look_back.cuh) adds the sum
 * of all tiles before. Then each thread scans its items once more, starting from the sum before
 * them, and the warp writes its part of the tile. (Merrill and Garland, Single-pass parallel prefix
 * scan with decoupled look-back, 2016.)
 *
 * Against work_efficient: each item is read once and written once, 8 bytes per u32 item instead of
 * 32, and the call queues 2 operations (clear the tile states, scan) instead of 2 log2 n. A single
 * tile needs 1, and so do a few tiles: each block then sums all items before its tile itself, so
 * that there are no states. That is impossible in place, where other blocks change these items.
 *
 * For many items, Hopper and later devices run the look-ahead kernel instead (look_ahead.cuh). It
 * has no separate tuning: a tuning other than the default always selects the kernel of this file.
 *
 * Scratch: one look-back state per tile (8 bytes for u32, 16 for u64). Limits: n < 2^32; block is a
 * multiple of 32 up to 1024; items per thread 4, 8, 16 or 32.
 */
#include "look_ahead.cuh"
#include "order_pass.cuh"
#include "primitives/count.cuh"
#include "primitives/kernel/look_back.cuh"
#include "warp_part.cuh"

/* Arguments of the look-back kernel, by value. */
template <typename T> struct scan_tile_job {
	const T *in;
	T *out;
	struct sl_count count;
	bool inclusive;
	struct sl_look_back<T> tile_states;
};

/*
 * For the first warp, lane w for warp w: replaces the warp sums of the tile by the sum of all items
 * before each warp, in this tile and in all tiles before. These are summed by look-back, for which
 * the total of the tile is also published, or are the sum of before[], one per warp.
 */
template <typename T>
static __device__ inline void add_prefix_to_warp_sums(T *warp_sum, uint32_t warps,
	struct sl_look_back<T> tile_states, uint32_t tile, const T *before)
{
	uint32_t lane = threadIdx.x;
	T lane_sum = lane < warps ? warp_sum[lane] : 0;
	T lane_scan = scan_warp(lane_sum, lane);
	T total = __shfl_sync(SL_LANES, lane_scan, LANES - 1);
	T start = before ? sum_warp(lane < warps ? before[lane] : 0)
	                 : sl_look_back_sum(tile_states, tile, total);

	if (lane < warps)
		warp_sum[lane] = start + lane_scan - lane_sum;
}

/* For a warp: its share of the sum of the n items before a tile, which are whole vectors. */
template <typename T> static __device__ inline T sum_before(const T *in, uint32_t n)
{
	constexpr uint32_t width = VECTOR_BYTES / sizeof(T);
	T sum = 0;

	if ((uintptr_t)in % VECTOR_BYTES != 0) {
		for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
			sum += in[i];
		return sum_warp(sum);
	}
	for (uint32_t v = threadIdx.x; v < n / width; v += blockDim.x) {
		struct vector<T> x = ((const struct vector<T> *)in)[v];

		SL_UNROLL
		for (uint32_t i = 0; i < width; i++)
			sum += x.item[i];
	}
	return sum_warp(sum);
}

/*
 * One block per tile of blockDim.x * VECTORS vectors of 16 bytes; blocks are whole warps; dynamic
 * shared memory as computed by shared_bytes(). SUMS_ALL: each block sums all items before its tile,
 * without look-back. The minimum of 1 block in the launch bounds allows 64 registers per thread:
 * all VECTORS loads are in flight and nothing spills.
 */
template <typename T, uint32_t VECTORS, bool SUMS_ALL>
static __global__ void __launch_bounds__(LANES *WARPS_MAX, 1)
	tile_kernel(struct scan_tile_job<T> job)
{
	using warp_part = struct part<T, VECTORS>;
	SL_SHARED_DYNAMIC(struct vector<T>, vectors);
	T *warp_sum = (T *)(vectors + blockDim.x * VECTORS);   /* one per warp */
	T *before = SUMS_ALL ? warp_sum + WARPS_MAX : nullptr; /* one per warp */
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
	sl_wait_for_previous();
	sl_trigger_next();
	uint32_t tile = SUMS_ALL        ? blockIdx.x
	                : gridDim.x > 1 ? sl_look_back_ticket(job.tile_states)
	                                : 0;
	uint64_t first = (uint64_t)tile * warps * warp_part::items;
	uint32_t n = sl_count_read(job.count);
	if (first >= n)
		return; /* later tiles are empty too, so none waits for this one */
	if (SUMS_ALL) {
		T sum = sum_before(job.in, (uint32_t)first);

		if (lane == 0)
			before[warp] = sum;
	}
	first += warp * warp_part::items;
	warp_part p = {lane, first, first < n ? (uint32_t)(n - first) : 0,
		vectors + warp * LANES * VECTORS};

	read_part(p, job.in);
	__syncwarp();
	T lane_sum = sum_items(p);
	T lane_scan = scan_warp(lane_sum, lane);
	if (lane == LANES - 1)
		warp_sum[warp] = lane_scan;
	__syncthreads();
	if (warp == 0)
		add_prefix_to_warp_sums(warp_sum, warps, job.tile_states, tile, before);
	__syncthreads();
	scan_items(p, (T)(warp_sum[warp] + lane_scan - lane_sum), job.inclusive);
	__syncwarp();
	write_part(p, job.out);
}

/* --- host ------------------------------------------------------------------------------------- */

/*
 * 256 threads with 128 bytes each in flight, in tiles of 32 KiB: enough to saturate the memory of
 * an H200.
 */
static constexpr struct sl_tuning DEFAULT_TUNING = {256, 32};

/*
 * Bytes of a tile. The tuning counts items of 4 bytes: for u64 a thread handles half as many, so
 * that a tile has the same size in bytes and one tuning serves both types.
 */
static uint32_t tile_bytes(struct sl_tuning tuning)
{
	return tuning.block * tuning.items * (uint32_t)sizeof(uint32_t);
}

/* Dynamic shared memory of a block: the tile and one sum per warp. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	if (sl_type_is_float(type))
		return order_pass_shared_bytes(type);
	return tile_bytes(tuning) + WARPS_MAX * sl_type_bytes(type);
}

/* Tiles have at least 512 bytes, so their number is always below the limit of a grid. */
static uint32_t tiles_for(uint32_t n, struct sl_tuning tuning, enum sl_type type)
{
	return (uint32_t)((n * (uint64_t)sl_type_bytes(type) + tile_bytes(tuning) - 1) /
			  tile_bytes(tuning));
}

/*
 * Tunings that replace the default by the size of the job; measured on an H200.
 * Less than SMALL_BYTES, but more than one tile: tiles of 16 KiB, which finish earlier (best up to
 * 2^18 u32 items).
 * Up to SUMS_ALL_BYTES, if not in place, each block of these sums all items before its tile (best
 * up to 2^14 u32 items; at 2^15 look-back is faster).
 * From LARGE_BYTES on: tiles of 64 KiB (from 2^21 u32 items).
 * From LOOK_AHEAD_TILES tiles of 32 KiB per multiprocessor on: the look-ahead kernel, if the device
 * has it (from 2^23 u32 items). With fewer tiles its blocks spend most of their time filling and
 * draining their pipeline.
 */
static constexpr struct sl_tuning SMALL_TUNING = {512, 8}, LARGE_TUNING = {512, 32};
static constexpr uint64_t SUMS_ALL_BYTES = 64 << 10, SMALL_BYTES = 1 << 20, LARGE_BYTES = 8 << 20;
static constexpr uint32_t LOOK_AHEAD_TILES = 6;

/*
 * Scratch for either kernel and for every tuning that choose() may select: a job of up to
 * SMALL_BYTES may have more tiles than the largest job has with the default tuning.
 */
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
	if (sl_type_is_float(shape->type))
		return order_pass_scratch(shape);
	return shape->type == SL_U32 ? scratch_for<uint32_t>(shape) : scratch_for<uint64_t>(shape);
}

/*
 * Clears the tile states and queues the look-back kernel with an early launch: its blocks start
 * while the clearing kernel still runs, and wait for it in sl_wait_for_previous().
 */
template <typename T, uint32_t VECTORS, bool SUMS_ALL = false>
static enum sl_status launch(
	struct sl_exec *x, const struct sl_scan_job *job, struct sl_tuning tuning)
{
	uint32_t tiles = tiles_for(job->n, tuning, job->type);
	struct sl_arena a = x->scratch;
	const scan_tile_job<T> t = {(const T *)job->in, (T *)job->out, sl_count_of(job),
		job->inclusive, sl_look_back_cut<T>(&a, tiles)};

	if (tiles > 1 && !SUMS_ALL) /* a single tile has no predecessor: its state is never read */
		SL_TRY(sl_look_back_clear(t.tile_states, x->stream));
	return sl_launch_early("tile_kernel", tile_kernel<T, VECTORS, SUMS_ALL>, tiles,
		tuning.block,
		shared_bytes(tuning, job->type) + (SUMS_ALL ? WARPS_MAX * sizeof(T) : 0), x->stream,
		t);
}

/* True if the tuning is the default, which choose() may replace. */
static bool is_default(struct sl_tuning tuning)
{
	return tuning.block == DEFAULT_TUNING.block && tuning.items == DEFAULT_TUNING.items;
}

/* True if each block sums all items before its tile, so that there are no states to be cleared. */
static bool sums_all(const struct sl_exec *x, const struct sl_scan_job *job)
{
	uint64_t bytes = job->n * (uint64_t)sl_type_bytes(job->type);

	return is_default(x->tuning) && job->in != job->out && bytes > tile_bytes(x->tuning) &&
	       bytes <= SUMS_ALL_BYTES;
}

/*
 * Chooses the tuning of a job, and the number of blocks for the look-ahead kernel; *blocks = 0
 * selects the look-back kernel. Small jobs return before the query of the device, which costs time.
 */
template <typename T>
static enum sl_status choose(const struct sl_exec *x, const struct sl_scan_job *job,
	struct sl_tuning *tuning, uint32_t *blocks)
{
	using config = look_ahead_default;
	uint32_t tiles =
		look_ahead_tiles<config>(job->n, look_ahead_lead(job, sizeof(T)), sizeof(T));
	struct sl_limits limits;

	*blocks = 0;
	*tuning = x->tuning;
	if (!is_default(*tuning))
		return SL_OK;
	if (tiles_for(job->n, DEFAULT_TUNING, job->type) > 1 && job->n * sizeof(T) < SMALL_BYTES)
		*tuning = SMALL_TUNING;
	if (tiles < LOOK_AHEAD_TILES)
		return SL_OK;
	SL_TRY(sl_device_limits(&limits));
	if (job->n * sizeof(T) >= LARGE_BYTES &&
		limits.shared_bytes >= shared_bytes(LARGE_TUNING, job->type))
		*tuning = LARGE_TUNING;
	if (tiles >= LOOK_AHEAD_TILES * limits.multiprocessors &&
		limits.shared_bytes >= look_ahead_shared_bytes<T, config>() &&
		sl_compiled_for(look_ahead_kernel<T, config, false>) >= SL_BULK_CAPABILITY)
		*blocks = limits.multiprocessors;
	return SL_OK;
}

/* Selects the kernel, and its instance for the tuned number of vectors per thread. */
template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_tuning tuning;
	uint32_t blocks;

	if (sums_all(x, job))
		return launch<T, 2, true>(x, job, SMALL_TUNING);
	SL_TRY(choose<T>(x, job, &tuning, &blocks));
	if (blocks > 0)
		return look_ahead_run<T, look_ahead_default>(x, job, blocks);
	return sl_with_items<1, 2, 4, 8>(
		tuning.items / 4, [=](auto vectors) { return launch<T, vectors>(x, job, tuning); });
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (sl_type_is_float(job->type))
		return job->type == SL_F32 ? order_pass<float>(x, job) : order_pass<double>(x, job);
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_scan_shared) = {
	.name = "shared",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "single pass over tiles in shared memory with decoupled look-back; "
		"look-ahead for many items on Hopper",
	.tunable = {.block = DEFAULT_TUNING.block,
		.block_step = LANES,
		.block_most = LANES * WARPS_MAX,
		.items = DEFAULT_TUNING.items,
		.items_can = {4, 8, 16, 32},
		.shared_bytes = shared_bytes},
	.takes_n_on_device = true,
	.scratch = scratch,
	.scan = run,
	.sum = order_sum_of,
};
