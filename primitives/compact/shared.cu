/*
 * compact/shared.cu - single-pass stream compaction: each block compacts one tile in shared memory;
 * decoupled look-back joins the tiles.
 *
 * Last of the device backends naive -> work_efficient -> tiled -> shared.
 *
 * A thread loads 16 flags at a time and packs them into bits. The position of its first survivor is
 * the number of survivors in the lanes before (warp scan), in the warps before (shared memory) and
 * in the tiles before (decoupled look-back, look_back.cuh; Merrill and Garland, 2016). While the
 * first warp waits for the look-back, the other warps already list their survivors in shared
 * memory; the list is then written with coalesced stores.
 *
 * The list stores each survivor as its 16-bit index within the tile: half the shared memory of 32
 * bits, so twice as many tiles are resident. Tiles begin at multiples of 16 bytes, whatever the
 * alignment of keep; an incomplete first or last vector is read flag by flag.
 *
 * The same block also compacts its columns: neighbouring threads gather neighbouring survivors of
 * the list directly from the column and write them side by side. Items do not pass through shared
 * memory, sectors without a survivor are not read, and ranks are computed once for all columns.
 *
 * Design point, for 8 columns of 4 bytes and half of the items surviving: an item moves 49 bytes,
 * which is 3.7 cycles of one multiprocessor of an H200 at its share of 3.3 TB/s. It can issue 470
 * thread instructions in that time; the copy needs 11 per survivor and column, 44 per item. So the
 * limit is the number of bytes in flight, about 40 KiB per multiprocessor. A thread gathers 8 items
 * (at most 32 bytes) at a time, and 1536 resident threads have 96 KiB of sectors in flight at half
 * survivors. A tile of 16384 flags takes 6 * 16384 * 3.7 cycles with 6 resident blocks, of which
 * building the list takes about 10000, while other blocks gather.
 *
 * Against work_efficient: counts and positions stay on chip, so memory traffic is 1 byte per flag
 * and 4 per survivor; loads are 16 bytes wide instead of 1; and the call queues 2 operations, or 1
 * for a single tile.
 *
 * On an H200: 2^27 flags, indices only, 0.140 ms, 2.07 times the speed of CUB 3.0.1; 2^26 items
 * with 8 columns 0.816 ms, 2.01 times CUB with a zip iterator.
 *
 * Scratch: one look-back state of 8 bytes per tile. Limits: n < 2^32; block is a multiple of 32 up
 * to 1024; 16, 32 or 64 flags per thread, at most 2^16 per tile.
 */
#include "items.h"
#include "primitives/count.cuh"
#include "primitives/kernel/look_back.cuh"

enum {
	LANES = 32,
	WARPS_MAX = 32,             /* of a block */
	VECTOR = 16,                /* flags per load */
	ROW_FLAGS = VECTOR * LANES, /* flags that a warp loads in one step */
	TILE_MAX = 1 << 16,         /* flags of a tile: indices have 16 bits */
	VECTORS_MAX = TILE_MAX / (WARPS_MAX * ROW_FLAGS),
	DEFAULT_BLOCK = 256,
	DEFAULT_ITEMS = VECTORS_MAX * VECTOR,
	ITEMS_IN_FLIGHT = 8, /* items of a column that a thread gathers at a time ... */
	BYTES_IN_FLIGHT = 32 /* ... at most so many bytes */
};

/* Arguments of the kernel, by value. */
struct compact_tile_job {
	const uint8_t *keep;
	uint32_t lead; /* flags of the first tile before keep[0] */
	struct sl_count n;
	uint32_t *out, *n_out;
	struct sl_look_back<uint32_t> tile_states;
	uint32_t blocks_per_tile; /* which divide its columns */
	uint32_t n_columns;
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
};

/* Survivor counts that the warps of a block exchange. */
struct survivor_counts {
	uint32_t in_warp[WARPS_MAX];
	uint32_t before; /* in all tiles before */
};

/* Packs four flags, one per byte, into four bits (bit k: byte k is not 0). */
static __device__ __forceinline__ uint32_t bits_of_four(uint32_t flags)
{
	/*
	 * The top bit of a byte is set if it was set, or if its lower bits carry into it. No carry
	 * leaves the byte.
	 */
	uint32_t alive = (((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu) | flags) & 0x80808080u;

	/*
	 * The product moves bits 7, 15, 23 and 31 to 28, 29, 30 and 31. All other partial products
	 * end below bit 28.
	 */
	return alive * 0x00204081u >> 28;
}

/* Packs 16 flags into 16 bits. */
static __device__ __forceinline__ uint32_t bits_of(uint4 flags)
{
	return bits_of_four(flags.x) | bits_of_four(flags.y) << 4 | bits_of_four(flags.z) << 8 |
	       bits_of_four(flags.w) << 12;
}

/* Packs the flags i .. i + 15; those before 0 or past n - 1 count as 0. */
static __device__ inline uint32_t bits_at_edge(const uint8_t *keep, int64_t i, int64_t n)
{
	uint32_t bits = 0;

	if (i >= 0 && i + VECTOR <= n)
		return bits_of(*(const uint4 *)(keep + i));
	for (int64_t k = i < 0 ? -i : 0; k < VECTOR && i + k < n; k++)
		bits |= (uint32_t)(keep[i + k] != 0) << k;
	return bits;
}

/*
 * Loads the lane's VECTORS groups of 16 flags, striped over the warp; all loads are in flight at a
 * time.
 */
template <uint32_t VECTORS>
static __device__ __forceinline__ void load_bits(
	const uint8_t *keep, int64_t first, int64_t n, uint32_t *bits)
{
	int64_t i = first + threadIdx.x % LANES * VECTOR;
	uint4 flags[VECTORS];

	if (first < 0 || first + VECTORS * ROW_FLAGS > n) {
		SL_UNROLL
		for (uint32_t v = 0; v < VECTORS; v++)
			bits[v] = bits_at_edge(keep, i + v * ROW_FLAGS, n);
		return;
	}
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		flags[v] = *(const uint4 *)(keep + i + v * ROW_FLAGS);
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		bits[v] = bits_of(flags[v]);
}

/* Inclusive scan over the lanes. (Hillis and Steele.) */
static __device__ __forceinline__ uint32_t scan_warp(uint32_t sum)
{
	SL_UNROLL
	for (uint32_t by = 1; by < LANES; by *= 2) {
		uint32_t other = __shfl_up_sync(SL_LANES, sum, by);

		sum += threadIdx.x % LANES >= by ? other : 0;
	}
	return sum;
}

/*
 * Sets at[v] to the number of survivors of the warp before the lane's vector v; returns the warp's
 * total.
 */
template <uint32_t VECTORS>
static __device__ __forceinline__ uint32_t rank_bits(const uint32_t *bits, uint32_t *at)
{
	uint32_t n = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++) {
		uint32_t mine = (uint32_t)__popc(bits[v]), up_to = scan_warp(mine);

		at[v] = n + up_to - mine;
		n += __shfl_sync(SL_LANES, up_to, LANES - 1);
	}
	return n;
}

/*
 * Appends the survivors of one vector to the list; offset is the index of its first flag in the
 * tile.
 */
static __device__ __forceinline__ void list_survivors(
	uint32_t bits, uint32_t offset, uint16_t *list)
{
	SL_UNROLL
	for (uint32_t k = 0; k < VECTOR; k++)
		if (bits >> k & 1)
			*list++ = (uint16_t)(offset + k);
}

/*
 * For a block: out[i] = first + list[i]. Threads start at the 128-byte boundary at or before out,
 * so that each store of a warp covers one cache line.
 */
static __device__ __forceinline__ void write_list(
	const uint16_t *list, uint32_t n, uint32_t first, uint32_t *out)
{
	uint32_t skip = (uint32_t)((uintptr_t)out / sizeof(*out) % LANES);

	for (uint32_t i = threadIdx.x; i < n + skip; i += blockDim.x)
		if (i >= skip)
			out[i - skip] = first + list[i - skip];
}

/*
 * For a block: to[i] = from[first + list[i]]. A warp loads up to ITEMS_IN_FLIGHT rows of LANES
 * items before it stores the first. Rows are aligned to cache lines as in write_list(), so the
 * first may start before item 0.
 */
template <class T>
static __device__ __forceinline__ void gather_items(
	const uint16_t *list, uint32_t n, int64_t first, const T *from, T *to)
{
	constexpr int most = BYTES_IN_FLIGHT / sizeof(T);
	constexpr int rows = most < ITEMS_IN_FLIGHT ? most : ITEMS_IN_FLIGHT;
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	uint32_t skip = (uint32_t)((uintptr_t)to / sizeof(T) % LANES);
	int step = rows * (int)blockDim.x, end = (int)n;
	T in_flight[rows] = {}; /* avoids a warning: the conditions of loads and stores agree */

	for (int i = (int)(warp * rows * LANES + lane - skip); i < end; i += step) {
		SL_UNROLL
		for (int k = 0; k < rows; k++)
			if (i + k * LANES >= 0 && i + k * LANES < end)
				in_flight[k] = from[first + list[i + k * LANES]];
		SL_UNROLL
		for (int k = 0; k < rows; k++)
			if (i + k * LANES >= 0 && i + k * LANES < end)
				to[i + k * LANES] = in_flight[k];
	}
}

/*
 * For a block: compacts its share of the columns; before: survivors in previous tiles. One loop per
 * item size: a single loop over columns of any size would keep the registers of all sizes alive,
 * twice as many.
 */
static __device__ __forceinline__ void gather_columns(const struct compact_tile_job &job,
	uint32_t column_group, const uint16_t *list, uint32_t n, int64_t first, uint32_t before)
{
#define X(item_bytes, type)                                                            \
	for (uint32_t k = column_group; k < job.n_columns; k += job.blocks_per_tile)   \
		if (job.column[k].bytes == item_bytes)                                 \
			gather_items(list, n, first, (const type *)job.column[k].from, \
				(type *)job.column[k].to + before);
	SL_COMPACT_ITEMS(X)
#undef X
}

/*
 * Blocks are whole warps; a tile has blockDim.x * VECTORS * VECTOR flags; dynamic shared memory is
 * list_bytes(). If several blocks share a tile, the block with the tile's first ticket
 * (column_group 0) publishes the count and writes indices and n_out; the others only wait for the
 * count of the tiles before.
 */
template <uint32_t VECTORS, bool HAS_COLUMNS>
static __global__ void __launch_bounds__(LANES *WARPS_MAX) tile_kernel(struct compact_tile_job job)
{
	SL_SHARED_DYNAMIC(uint16_t, list);
	SL_SHARED(struct survivor_counts, survivors);
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	uint32_t warps = blockDim.x / LANES, offset = warp * VECTORS * ROW_FLAGS;
	sl_wait_for_previous();
	/* the blocks of a single tile need no order */
	uint32_t ticket =
		gridDim.x > job.blocks_per_tile ? sl_look_back_ticket(job.tile_states) : blockIdx.x;
	uint32_t tile = HAS_COLUMNS ? ticket / job.blocks_per_tile : ticket;
	uint32_t column_group = HAS_COLUMNS ? ticket % job.blocks_per_tile : 0;
	int64_t first = (int64_t)tile * warps * VECTORS * ROW_FLAGS - job.lead;
	int64_t n_flags = sl_count_read(job.n);
	uint32_t bits[VECTORS], at[VECTORS];

	if (tile > 0 && first >= n_flags)
		return; /* later tiles are empty too, so none waits for this one */
	load_bits<VECTORS>(job.keep, first + offset, n_flags, bits);
	uint32_t mine = rank_bits<VECTORS>(bits, at);
	if (lane == 0)
		survivors.in_warp[warp] = mine;
	__syncthreads();

	/* from here on, lane l handles the count of warp l */
	mine = lane < warps ? survivors.in_warp[lane] : 0;
	uint32_t up_to = scan_warp(mine);
	uint32_t n = __shfl_sync(SL_LANES, up_to, LANES - 1);
	uint32_t before_warp = __shfl_sync(SL_LANES, up_to - mine, (int)warp);
	if (warp == 0) {
		uint32_t before = column_group == 0 ? sl_look_back_sum(job.tile_states, tile, n)
		                                    : sl_look_back_wait(job.tile_states, tile);

		if (lane == 0)
			survivors.before = before;
		if (lane == 0 && column_group == 0 &&
			first + (int64_t)(warps * VECTORS * ROW_FLAGS) >= n_flags)
			*job.n_out = before + n;
	}
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		list_survivors(bits[v], offset + v * ROW_FLAGS + lane * VECTOR,
			list + before_warp + at[v]);
	__syncthreads();
	if (job.out && column_group == 0)
		write_list(list, n, (uint32_t)first, job.out + survivors.before);
	if (HAS_COLUMNS)
		gather_columns(job, column_group, list, n, first, survivors.before);
}

/* --- host ------------------------------------------------------------------------------------- */

/* Bytes of the survivor list of a tile. */
static size_t list_bytes(struct sl_tuning tuning)
{
	return (size_t)tuning.block * tuning.items * sizeof(uint16_t);
}

/* Shared memory of a block: the list, the survivor counts and the ticket. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	(void)type;
	return list_bytes(tuning) + sizeof(struct survivor_counts) + sizeof(uint64_t);
}

/* Tiles have at least 32 * 16 flags, so their number is below the limit of a grid. */
static uint32_t tiles_for(uint64_t n, struct sl_tuning tuning)
{
	uint64_t tile = (uint64_t)tuning.block * tuning.items;

	return (uint32_t)((n + tile - 1) / tile);
}

/* True if the tuning is the default, which choose() may replace. */
static bool is_default(struct sl_tuning tuning)
{
	return tuning.block == DEFAULT_BLOCK && tuning.items == DEFAULT_ITEMS;
}

/*
 * Default tunings by size, for indices only and with columns; measured on an H200. An entry is used
 * from min_tiles_thirds / 3 tiles per multiprocessor on. Indices are fastest when all tiles run at
 * once, one per multiprocessor, or two for many flags. Columns always prefer two large blocks per
 * multiprocessor, which have more loads in flight than six small ones.
 */
struct size_tuning {
	struct sl_tuning tuning;
	uint32_t min_tiles_thirds;
};
static constexpr struct size_tuning SMALLEST_TILES = {
	{DEFAULT_BLOCK, 16}, 0}; /* the smallest tiles */
static constexpr struct size_tuning tuning_by_size[2][5] = {
	{{{768, 64}, 21}, {{1024, 32}, 10}, {{1024, 64}, 2}, {{1024, 32}, 2}, {{640, 16}, 0}},
	{{{1024, 32}, 2}, {{1024, 16}, 1}, SMALLEST_TILES},
};

/*
 * Few flags fit in a single tile of one load per thread, which needs neither tile states nor the
 * launch that clears them.
 */
static constexpr uint32_t SINGLE_TILE_BLOCK = LANES * WARPS_MAX, SINGLE_TILE_BLOCK_MIN = 128;

static struct sl_tuning single_tile(uint64_t flags)
{
	uint32_t loads = (uint32_t)((flags + VECTOR - 1) / VECTOR);
	uint32_t block = (loads + LANES - 1) / LANES * LANES;

	return {block > SINGLE_TILE_BLOCK_MIN ? block : SINGLE_TILE_BLOCK_MIN, VECTOR};
}

/*
 * Replaces the default tuning: by a single tile if the flags, with those before keep[0], fit in
 * one, else by the entry for n flags that fits the device. Any other tuning is kept.
 */
static struct sl_tuning choose(struct sl_tuning tuning, uint64_t flags, uint64_t n,
	bool has_columns, const struct sl_limits *limits)
{
	if (!is_default(tuning))
		return tuning;
	if (flags <= SINGLE_TILE_BLOCK * VECTOR && SINGLE_TILE_BLOCK <= limits->block_threads)
		return single_tile(flags);
	for (const struct size_tuning &candidate : tuning_by_size[has_columns]) {
		if (candidate.tuning.block == 0)
			break;
		uint64_t tile = candidate.tuning.block * candidate.tuning.items;

		tuning = candidate.tuning;
		if (tuning.block <= limits->block_threads &&
			shared_bytes(tuning, SL_U32) <= limits->shared_bytes &&
			3 * n >= candidate.min_tiles_thirds * tile * limits->multiprocessors)
			break;
	}
	return tuning;
}

/*
 * Tile states for flags of any alignment. choose() may give fewer flags smaller tiles, so the
 * default is sized for the smallest.
 */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_tuning least = is_default(shape->tuning) ? SMALLEST_TILES.tuning : shape->tuning;
	struct sl_arena a = {};

	sl_look_back_cut<uint32_t>(&a, tiles_for((uint64_t)shape->n + VECTOR - 1, least));
	return a.used;
}

/*
 * Blocks per tile. When there are fewer tiles than two per multiprocessor, the columns of a tile
 * are divided among several blocks, each of which rebuilds the list. Otherwise most multiprocessors
 * would be idle while a few copy column after column.
 */
static uint32_t blocks_per_tile_for(uint32_t tiles, uint32_t n_columns, uint32_t multiprocessors)
{
	uint32_t most = 2 * multiprocessors / tiles;

	return most < 2 || n_columns < 2 ? 1 : n_columns < most ? n_columns : most;
}

/*
 * Clears the tile states and queues the kernel with an early launch: its blocks start while the
 * clearing kernel still runs, and wait for it in sl_wait_for_previous().
 */
template <uint32_t VECTORS>
static enum sl_status compact(struct sl_exec *x, const struct sl_compact_job *job,
	struct sl_tuning tuning, uint32_t multiprocessors)
{
	uint32_t lead = (uint32_t)((uintptr_t)job->keep % VECTOR);
	uint32_t tiles = tiles_for((uint64_t)job->n + lead, tuning);
	struct sl_arena a = x->scratch;
	uint32_t blocks_per_tile = blocks_per_tile_for(tiles, job->n_columns, multiprocessors);
	struct compact_tile_job t = {job->keep, lead, sl_count_of(job), job->out, job->n_out,
		sl_look_back_cut<uint32_t>(&a, tiles), blocks_per_tile, job->n_columns};

	for (uint32_t k = 0; k < job->n_columns; k++)
		t.column[k] = job->column[k];
	if (tiles > 1) /* a single tile has no predecessor, so its state is never read */
		SL_TRY(sl_look_back_clear(t.tile_states, x->stream));
	return sl_launch_early("tile_kernel",
		job->n_columns > 0 ? tile_kernel<VECTORS, true> : tile_kernel<VECTORS, false>,
		tiles * blocks_per_tile, tuning.block, list_bytes(tuning), x->stream, t);
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_limits limits;
	struct sl_tuning tuning;

	SL_TRY(sl_device_limits(&limits));
	tuning = choose(x->tuning, (uint64_t)job->n + (uintptr_t)job->keep % VECTOR, job->n,
		job->n_columns > 0, &limits);
	return sl_with_items<1, 2, VECTORS_MAX>(tuning.items / VECTOR, [&](auto vectors) {
		return compact<vectors>(x, job, tuning, limits.multiprocessors);
	});
}

const struct sl_backend SL_NAME(sl_compact_shared) = {
	.name = "shared",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "single pass over tiles: survivor list in shared memory, decoupled look-back",
	/* lists of 32 KiB: 6 blocks per multiprocessor of an H200, 96 KiB of loads in flight */
	.tunable = {.block = DEFAULT_BLOCK,
		.block_step = LANES,
		.block_most = LANES * WARPS_MAX,
		.items = DEFAULT_ITEMS,
		.items_can = {1 * VECTOR, 2 * VECTOR, VECTORS_MAX *VECTOR},
		.shared_bytes = shared_bytes},
	.takes_n_on_device = true,
	.scratch = scratch,
	.compact = run,
};
