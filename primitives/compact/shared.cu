/*
 * compact/shared.cu - compaction in one pass: each block compacts a tile in shared memory.
 *
 * A thread loads its flags 16 at a time and makes bits of them. Bits set in the lanes before it,
 * the warps before and the tiles before give the place of its first survivor. Those in the tiles
 * before come by decoupled look-back (look_back.cuh; Merrill and Garland, 2016), for which one warp
 * waits while the others put their survivors where they belong in a list in shared memory. The list
 * is then written by neighbours to neighbours.
 *
 * In the list a survivor is its number in the tile, of 16 bits: half the room, so twice the tiles
 * at a time. Tiles begin where memory has a multiple of 16 bytes, wherever the flags begin; a
 * vector that is not theirs altogether, the first or the last, is read flag by flag.
 *
 * Columns are taken along by the same block: neighbouring threads fetch neighbouring survivors of
 * the list straight from the column and write them side by side. There is no way round through
 * shared memory; sectors without a survivor are never read, and the list is the only rank there is.
 * Of 8 columns of 4 bytes with half alive an item costs 49 bytes, 3.7 cycles of a Hopper's
 * multiprocessor at its share of 3.3 TB/s, in which it can issue 470 instructions of a thread; a
 * survivor takes 11 a column, so an item 44. What must be had are bytes in flight, some 40 KiB a
 * multiprocessor: a thread fetches 8 items at a time, or 32 bytes, and the 1536 threads that fit
 * beside their lists, half alive, 96 KiB of sectors. A block has 6 * 16384 * 3.7 cycles for a tile,
 * of which it makes the list, while others fetch, in some 10000.
 *
 * Over compact/work_efficient: counts and places stay on the chip, 1 byte an item is read and 4 a
 * survivor are written, and that is all; 16 bytes a load instead of 1 keep the memory busy; and
 * there are 2 operations on the stream.
 */
#include "items.h"
#include "primitives/kernel/look_back.cuh"
#include "primitives/primitives.h"

enum {
	LANES = 32,
	WARPS_MOST = 32,      /* of a block */
	VECTOR = 16,          /* flags of a load */
	ROW = VECTOR * LANES, /* flags that a warp loads at a time */
	TILE_MOST = 1 << 16,  /* flags of a tile, for numbers of 16 bits */
	VECTORS_MOST = TILE_MOST / (WARPS_MOST * ROW),
	BLOCK_OWN = 256,
	ITEMS_OWN = VECTORS_MOST * VECTOR,
	ITEMS_ON_WAY = 8, /* of a column, that a thread fetches at a time ... */
	BYTES_ON_WAY = 32 /* ... or fewer, of so many bytes */
};

struct tile_job {
	const uint8_t *keep;
	uint32_t off; /* flags that the first tile would have before keep */
	uint32_t n;
	uint32_t *out, *n_out;
	struct sl_look_back<uint32_t> before;
	uint32_t shares; /* blocks of a tile, which share out its columns */
	uint32_t n_columns;
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
};

/* What the warps of a block tell each other: how many survivors there are. */
struct survivors {
	uint32_t in_warp[WARPS_MOST];
	uint32_t before; /* in all tiles before */
};

/* Four flags, a byte each, as four bits. */
static __device__ __forceinline__ uint32_t bits_of_four(uint32_t flags)
{
	/* the top bit of each byte: its own, or carried up from the others; none leaves a byte */
	uint32_t alive = (((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu) | flags) & 0x80808080u;

	/* bits 7, 15, 23, 31 moved by 21, 14, 7, 0 become 28 to 31; all other sums end below */
	return alive * 0x00204081u >> 28;
}

static __device__ __forceinline__ uint32_t bits_of(uint4 flags)
{
	return bits_of_four(flags.x) | bits_of_four(flags.y) << 4 | bits_of_four(flags.z) << 8 |
	       bits_of_four(flags.w) << 12;
}

/* The flags from i on, of which some may be before 0 or behind n - 1; those are dead. */
static __device__ inline uint32_t bits_at_edge(const uint8_t *keep, int64_t i, int64_t n)
{
	uint32_t bits = 0;

	if (i >= 0 && i + VECTOR <= n)
		return bits_of(*(const uint4 *)(keep + i));
	for (int64_t k = i < 0 ? -i : 0; k < VECTOR && i + k < n; k++)
		bits |= (uint32_t)(keep[i + k] != 0) << k;
	return bits;
}

/* The flags of a lane, VECTOR in each row of its warp. All loads are in flight at a time. */
template <uint32_t VECTORS>
static __device__ __forceinline__ void load_bits(
	const uint8_t *keep, int64_t first, int64_t n, uint32_t *bits)
{
	int64_t i = first + threadIdx.x % LANES * VECTOR;
	uint4 flags[VECTORS];

	if (first < 0 || first + VECTORS * ROW > n) {
		SL_UNROLL
		for (uint32_t v = 0; v < VECTORS; v++)
			bits[v] = bits_at_edge(keep, i + v * ROW, n);
		return;
	}
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		flags[v] = *(const uint4 *)(keep + i + v * ROW);
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		bits[v] = bits_of(flags[v]);
}

/* Sums up to and with each lane. */
static __device__ __forceinline__ uint32_t scan_warp(uint32_t sum)
{
	SL_UNROLL
	for (uint32_t by = 1; by < LANES; by *= 2) {
		uint32_t other = __shfl_up_sync(SL_LANES, sum, by);

		sum += threadIdx.x % LANES >= by ? other : 0;
	}
	return sum;
}

/* at[v] = survivors of the warp that stand before the lane's vector v; gives those of the warp. */
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

/* Lists the survivors of a vector; number is that of its first flag in the tile. */
static __device__ __forceinline__ void list_bits(uint32_t bits, uint32_t number, uint16_t *list)
{
	SL_UNROLL
	for (uint32_t k = 0; k < VECTOR; k++)
		if (bits >> k & 1)
			*list++ = (uint16_t)(number + k);
}

/*
 * For a block: out[i] = first + list[i]. Threads begin as far before out as it lies behind a
 * multiple of 128 bytes, so that what a warp writes is one line of the cache.
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
 * For a block: to[i] = from[first + list[i]]. A warp has so many rows of LANES items on their way
 * before it writes the first. Rows begin as those of write_list() do, so the first may begin before
 * 0.
 */
template <class T>
static __device__ __forceinline__ void move_items(
	const uint16_t *list, uint32_t n, int64_t first, const T *from, T *to)
{
	constexpr int most = BYTES_ON_WAY / sizeof(T);
	constexpr int rows = most < ITEMS_ON_WAY ? most : ITEMS_ON_WAY;
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	uint32_t skip = (uint32_t)((uintptr_t)to / sizeof(T) % LANES);
	int step = rows * (int)blockDim.x, end = (int)n;
	T on_way[rows] = {}; /* set only lest a compiler doubts that what is written was fetched */

	for (int i = (int)(warp * rows * LANES + lane - skip); i < end; i += step) {
		SL_UNROLL
		for (int k = 0; k < rows; k++)
			if (i + k * LANES >= 0 && i + k * LANES < end)
				on_way[k] = from[first + list[i + k * LANES]];
		SL_UNROLL
		for (int k = 0; k < rows; k++)
			if (i + k * LANES >= 0 && i + k * LANES < end)
				to[i + k * LANES] = on_way[k];
	}
}

/*
 * For a block: the survivors of its share of the columns; before: those of other tiles. Size by
 * size, as one loop over columns of any size would keep what all sizes need in registers, twice as
 * many.
 */
static __device__ __forceinline__ void move_columns(const struct tile_job &job, uint32_t share,
	const uint16_t *list, uint32_t n, int64_t first, uint32_t before)
{
#define X(item_bytes, type)                                                          \
	for (uint32_t k = share; k < job.n_columns; k += job.shares)                 \
		if (job.column[k].bytes == item_bytes)                               \
			move_items(list, n, first, (const type *)job.column[k].from, \
				(type *)job.column[k].to + before);
	SL_COMPACT_ITEMS(X)
#undef X
}

/*
 * Blocks of whole warps, tiles of blockDim.x * VECTORS * VECTOR flags; see list_bytes(). Of the
 * blocks of a tile, the one with the first ticket, share 0, does all that is done once.
 */
template <uint32_t VECTORS, bool HAS_COLUMNS>
static __global__ void __launch_bounds__(LANES *WARPS_MOST) tile_kernel(struct tile_job job)
{
	SL_SHARED_DYNAMIC(uint16_t, list);
	SL_SHARED(struct survivors, survivors);
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	uint32_t warps = blockDim.x / LANES, number = warp * VECTORS * ROW;
	sl_wait_for_last();
	uint32_t ticket = sl_look_back_ticket(job.before);
	uint32_t tile = HAS_COLUMNS ? ticket / job.shares : ticket;
	uint32_t share = HAS_COLUMNS ? ticket % job.shares : 0;
	int64_t first = (int64_t)tile * warps * VECTORS * ROW - job.off;
	uint32_t bits[VECTORS], at[VECTORS];

	load_bits<VECTORS>(job.keep, first + number, job.n, bits);
	uint32_t mine = rank_bits<VECTORS>(bits, at);
	if (lane == 0)
		survivors.in_warp[warp] = mine;
	__syncthreads();

	/* now lane l stands for warp l */
	mine = lane < warps ? survivors.in_warp[lane] : 0;
	uint32_t up_to = scan_warp(mine);
	uint32_t n = __shfl_sync(SL_LANES, up_to, LANES - 1);
	uint32_t before_warp = __shfl_sync(SL_LANES, up_to - mine, (int)warp);
	if (warp == 0) {
		uint32_t before = share == 0 ? sl_look_back_sum(job.before, tile, n)
		                             : sl_look_back_wait(job.before, tile);

		if (lane == 0)
			survivors.before = before;
		if (lane == 0 && share == 0 && tile == job.before.tiles - 1)
			*job.n_out = before + n;
	}
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		list_bits(bits[v], number + v * ROW + lane * VECTOR, list + before_warp + at[v]);
	__syncthreads();
	if (job.out && share == 0)
		write_list(list, n, (uint32_t)first, job.out + survivors.before);
	if (HAS_COLUMNS)
		move_columns(job, share, list, n, first, survivors.before);
}

/* --- host ------------------------------------------------------------------------------------- */

static size_t list_bytes(struct sl_tuning tuning)
{
	return (size_t)tuning.block * tuning.items * sizeof(uint16_t);
}

/* The list, and what has a fixed size: the survivors and the ticket. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	(void)type;
	return list_bytes(tuning) + sizeof(struct survivors) + sizeof(uint64_t);
}

/* Tiles of at least 32 * 16 flags, so that they are always fewer than a grid may have blocks. */
static uint32_t tiles_for(uint64_t n, struct sl_tuning tuning)
{
	uint64_t tile = (uint64_t)tuning.block * tuning.items;

	return (uint32_t)((n + tile - 1) / tile);
}

static bool is_own(struct sl_tuning tuning)
{
	return tuning.block == BLOCK_OWN && tuning.items == ITEMS_OWN;
}

/*
 * The backend's own choices, of indices alone and with columns: from so many tiles on, in thirds
 * of a multiprocessor's. Indices are best made in tiles that all work at once, one a
 * multiprocessor, or, of many flags, two. Columns always are: two large blocks fetch what six small
 * ones cannot.
 */
struct own_choice {
	struct sl_tuning tuning;
	uint32_t from_thirds;
};
static constexpr struct own_choice OF_FEW = {{BLOCK_OWN, 16}, 0}; /* the smallest tiles */
static constexpr struct own_choice own_choices[2][5] = {
	{{{768, 64}, 21}, {{1024, 32}, 10}, {{1024, 64}, 2}, {{1024, 32}, 2}, {{640, 16}, 0}},
	{{{1024, 32}, 2}, {{1024, 16}, 1}, OF_FEW},
};

/* Is chosen by the number of flags, unless somebody else has chosen. */
static struct sl_tuning choose(
	struct sl_tuning tuning, uint64_t n, bool has_columns, const struct sl_limits *limits)
{
	if (!is_own(tuning))
		return tuning;
	for (const struct own_choice &own : own_choices[has_columns]) {
		if (own.tuning.block == 0)
			break;
		uint64_t tile = own.tuning.block * own.tuning.items;

		tuning = own.tuning;
		if (tuning.block <= limits->block_threads &&
			shared_bytes(tuning, SL_U32) <= limits->shared_bytes &&
			3 * n >= own.from_thirds * tile * limits->multiprocessors)
			break;
	}
	return tuning;
}

/* For flags on any alignment. Fewer flags may have more tiles: none has more than the smallest. */
static size_t scratch(const struct sl_shape *most)
{
	struct sl_tuning least = is_own(most->tuning) ? OF_FEW.tuning : most->tuning;
	struct sl_arena a = {};

	sl_look_back_cut<uint32_t>(&a, tiles_for((uint64_t)most->n + VECTOR - 1, least));
	return a.used;
}

/*
 * Where tiles are few, each column or some of them have a block of their own, up to two blocks a
 * multiprocessor: else most of these would watch a few move one column after another.
 */
static uint32_t shares_for(uint32_t tiles, uint32_t n_columns, uint32_t multiprocessors)
{
	uint32_t most = 2 * multiprocessors / tiles;

	return most < 2 || n_columns < 2 ? 1 : n_columns < most ? n_columns : most;
}

template <uint32_t VECTORS>
static enum sl_status compact(struct sl_exec *x, const struct sl_compact_job *job,
	struct sl_tuning tuning, uint32_t multiprocessors)
{
	uint32_t off = (uint32_t)((uintptr_t)job->keep % VECTOR);
	uint32_t tiles = tiles_for((uint64_t)job->n + off, tuning);
	struct sl_arena a = x->scratch;
	uint32_t shares = shares_for(tiles, job->n_columns, multiprocessors);
	struct tile_job t = {job->keep, off, job->n, job->out, job->n_out,
		sl_look_back_cut<uint32_t>(&a, tiles), shares, job->n_columns};

	for (uint32_t k = 0; k < job->n_columns; k++)
		t.column[k] = job->column[k];
	SL_TRY(sl_look_back_clear(t.before, x->stream));
	return sl_launch_early("tile_kernel",
		job->n_columns > 0 ? tile_kernel<VECTORS, true> : tile_kernel<VECTORS, false>,
		tiles * shares, tuning.block, list_bytes(tuning), x->stream, t);
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_limits limits;
	struct sl_tuning tuning;

	if (job->n == 0)
		return sl_fill(job->n_out, 0, sizeof(*job->n_out), x->stream);
	SL_TRY(sl_device_limits(&limits));
	tuning = choose(x->tuning, job->n, job->n_columns > 0, &limits);
	switch (tuning.items) {
	case 1 * VECTOR:
		return compact<1>(x, job, tuning, limits.multiprocessors);
	case 2 * VECTOR:
		return compact<2>(x, job, tuning, limits.multiprocessors);
	default:
		return compact<VECTORS_MOST>(x, job, tuning, limits.multiprocessors);
	}
}

const struct sl_backend SL_NAME(sl_compact_shared) = {
	.name = "shared",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "one pass over tiles: flags to bits, a list in shared memory, look-back",
	/* lists of 32 KiB: 6 blocks fit on a Hopper's multiprocessor, with 96 KiB on their way */
	.tunable = {.block = BLOCK_OWN,
		.block_step = LANES,
		.block_most = LANES * WARPS_MOST,
		.items = ITEMS_OWN,
		.items_can = {1 * VECTOR, 2 * VECTOR, VECTORS_MOST *VECTOR},
		.shared_bytes = shared_bytes},
	.scratch = scratch,
	.compact = run,
};
