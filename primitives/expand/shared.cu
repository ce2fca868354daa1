/*
 * expand/shared.cu - one pass over runs and slots together: each block marks the ends of its runs
 * in shared memory and scans the marks.
 *
 * Last of the device backends naive -> work_efficient -> tiled -> shared.
 *
 * Merge the ends of the runs with the slots 0, 1, 2, ...: end e comes before slot j if e <= j. The
 * index of a slot is then the number of ends before it. The merged sequence is cut into tiles of
 * the same length, whatever the lengths of the runs, and a search along the diagonal finds how many
 * ends a tile begins after. (S. Odeh, O. Green et al., Merge path, 2012; S. Baxter, load-balancing
 * search of moderngpu, 2013.)
 *
 *	ends      2 2 5          merged   0 1 [2] [2] 2 3 4 [5] 5         [e]: an end
 *	slots     0 1 2 3 4 5    tiles    0 1 [2] | [2] 2 3 | 4 [5] 5
 *
 * A warp searches a corner of a tile with 32 probes at a time: log32 n dependent loads. If all
 * tiles run at once, two warps of each block search both corners of its tile. Otherwise a kernel of
 * one warp per corner does, so that blocks do not wait for these loads one after the other. Then
 * each end of the tile, or the last one of equal ends, stores its number in the mark of its slot,
 * and the largest mark up to a slot is its index. The scan for it runs along the lanes of a warp,
 * each with 4 marks, and over the warps of the block.
 *
 * Memory: 4 or 8 bytes read per end and 4 written per slot, all coalesced, where naive waits for
 * log2 n loads per slot. A tile without slots reads nothing; so zero counts cost only the searches.
 * The same block gathers its columns by the indices, which stay in shared memory.
 *
 * Launches: 1 or 2. Scratch: one word per tile. Limits: n and n_out < 2^32; a tile has at most 2^15
 * ends and slots, so a mark has 16 bits.
 */
#include "primitives/compact/items.h"
#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

enum {
	LANES = 32,
	WARPS_MAX = 32,
	WIDTH = 4,           /* slots per lane and row: a vector of indices */
	ROW = WIDTH * LANES, /* slots per row of a warp */
	ENDS_IN_FLIGHT = 8,  /* loads of a thread before it stores the first mark */
	ITEMS_IN_FLIGHT = 4, /* items of a column that a thread gathers at a time */
	DEFAULT_BLOCK = 256,
	DEFAULT_ITEMS = 32,
	LEAST_ITEMS = 4,
	BLOCKS_AT_ONCE = 5 /* of the default, per multiprocessor of an H200 */
};

/* Arguments of the kernel, by value. */
template <class E> struct expand_tiles {
	const E *end;
	uint32_t n_ends, n_out, items; /* items: ends and slots per tile */
	uint32_t *out, *corner;        /* corner: ends before each tile; NULL: blocks search them */
	uint32_t n_columns;
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
};

/* What the warps of a block exchange. */
struct expand_shared {
	uint32_t ends_before[2];  /* this tile, the next one */
	uint32_t most[WARPS_MAX]; /* the largest mark of each warp */
};

/*
 * For a warp: the number of ends among the first `diagonal` items of the merged sequence. End i is
 * one of them if it is at most slot diagonal - 1 - i.
 */
template <class E>
static __device__ inline uint32_t search_diagonal(
	const struct expand_tiles<E> &job, uint64_t diagonal)
{
	uint32_t lane = threadIdx.x % LANES;
	uint64_t from = diagonal > job.n_out ? diagonal - job.n_out : 0;
	uint64_t end = diagonal < job.n_ends ? diagonal : job.n_ends;

	while (from < end) {
		uint64_t step = (end - from + LANES - 1) / LANES, i = from + lane * step + step - 1;
		bool is_before = i < end && job.end[i] <= diagonal - 1 - i;

		from += (uint32_t)__popc(__ballot_sync(SL_LANES, is_before)) * step;
		end = from + step - 1 < end ? from + step - 1 : end;
	}
	return (uint32_t)from;
}

/* The place of the corner in the merged sequence: the begin of the tile, or the end of all. */
template <class E>
static __device__ inline uint64_t diagonal_of(const struct expand_tiles<E> &job, uint64_t tile)
{
	uint64_t all = (uint64_t)job.n_ends + job.n_out;

	return tile * job.items < all ? tile * job.items : all;
}

/* One warp per corner: one more than there are tiles. */
template <class E>
static __global__ void corner_kernel(struct expand_tiles<E> job, uint32_t corners)
{
	uint32_t step = gridDim.x * blockDim.x / LANES;

	sl_trigger_next();
	for (uint32_t k = (blockIdx.x * blockDim.x + threadIdx.x) / LANES; k < corners; k += step) {
		uint32_t ends = search_diagonal(job, diagonal_of(job, k));

		if (threadIdx.x % LANES == 0)
			job.corner[k] = ends;
	}
}

/*
 * For a block: the ends from .. to - 1 store their number, counted from `from`, at the marks of
 * their slots, of which there are `slots` from first on. Of equal ends only the last one does.
 */
template <class E>
static __device__ inline void mark_ends(const struct expand_tiles<E> &job, uint32_t from,
	uint32_t to, uint64_t first, uint32_t slots, uint16_t *mark)
{
	for (uint32_t begin = from + threadIdx.x; begin < to;
		begin += ENDS_IN_FLIGHT * blockDim.x) {
		E end[ENDS_IN_FLIGHT], next[ENDS_IN_FLIGHT];

		SL_UNROLL
		for (uint32_t k = 0; k < ENDS_IN_FLIGHT; k++) {
			uint64_t i = (uint64_t)begin + k * blockDim.x;

			end[k] = i < to ? job.end[i] : 0;
			next[k] = i + 1 < to ? job.end[i + 1] : ~(E)0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ENDS_IN_FLIGHT; k++) {
			uint64_t i = (uint64_t)begin + k * blockDim.x;

			if (i < to && end[k] != next[k] && end[k] - first < slots)
				mark[end[k] - first] = (uint16_t)(i + 1 - from);
		}
	}
}

static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Largest mark of this lane and of those before it. (Hillis and Steele.) */
static __device__ __forceinline__ uint32_t scan_lanes(uint32_t most)
{
	SL_UNROLL
	for (uint32_t by = 1; by < LANES; by *= 2) {
		uint32_t other = __shfl_up_sync(SL_LANES, most, by);

		most = larger(most, threadIdx.x % LANES >= by ? other : 0);
	}
	return most;
}

/* The lane's marks of a row, each replaced by the largest one up to it. */
struct row_marks {
	uint32_t at[WIDTH];
};
static __device__ __forceinline__ struct row_marks read_row(const uint16_t *mark, uint32_t row)
{
	uint2 pairs = *(const uint2 *)(mark + row * ROW + threadIdx.x % LANES * WIDTH);
	struct row_marks m = {{pairs.x & 0xffff, pairs.x >> 16, pairs.y & 0xffff, pairs.y >> 16}};

	SL_UNROLL
	for (uint32_t k = 1; k < WIDTH; k++)
		m.at[k] = larger(m.at[k], m.at[k - 1]);
	return m;
}

/*
 * Writes the indices of a row, or those of them that are slots of the tile: positions from `skip`
 * to end - 1; out is the place of position 0, aligned to a vector.
 */
static __device__ __forceinline__ void write_row(
	const uint32_t *index, uint32_t at, uint32_t skip, uint32_t end, uint32_t *out)
{
	if (at >= skip && at + WIDTH <= end) {
		sl_store_vector(out + at, uint4{index[0], index[1], index[2], index[3]});
		return;
	}
	SL_UNROLL
	for (uint32_t k = 0; k < WIDTH; k++)
		if (at + k >= skip && at + k < end)
			out[at + k] = index[k];
}

/*
 * For a block: scans the marks of positions 0 .. end - 1, writes before + mark to out, unless it is
 * NULL, and with KEEPS stores the scanned marks. Each warp has the same number of rows.
 */
template <bool KEEPS>
static __device__ inline void scan_marks(struct expand_shared *s, uint16_t *mark, uint32_t skip,
	uint32_t end, uint32_t before, uint32_t *out)
{
	uint32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
	uint32_t share = ((end + ROW - 1) / ROW + warps - 1) / warps, first = warp * share,
		 most = 0;

	for (uint32_t row = first; row < first + share && row * ROW < end; row++)
		most = larger(most, read_row(mark, row).at[WIDTH - 1]);
	most = scan_lanes(most);
	if (lane == LANES - 1)
		s->most[warp] = most;
	__syncthreads();
	most = __shfl_sync(SL_LANES, scan_lanes(lane < warp ? s->most[lane] : 0), LANES - 1);
	for (uint32_t row = first; row < first + share && row * ROW < end; row++) {
		struct row_marks m = read_row(mark, row);
		uint32_t up_to = larger(most, scan_lanes(m.at[WIDTH - 1]));
		uint32_t previous = __shfl_up_sync(SL_LANES, up_to, 1);
		uint32_t at = row * ROW + lane * WIDTH, index[WIDTH];

		previous = lane > 0 ? previous : most;
		SL_UNROLL
		for (uint32_t k = 0; k < WIDTH; k++)
			index[k] = before + larger(previous, m.at[k]);
		if (out)
			write_row(index, at, skip, end, out);
		SL_UNROLL
		for (uint32_t k = 0; k < WIDTH; k++)
			if (KEEPS)
				mark[at + k] = (uint16_t)(index[k] - before);
		most = __shfl_sync(SL_LANES, up_to, LANES - 1);
	}
}

/* For a block: to[j] = from[offset[j]] for the slots of a tile. */
template <class T>
static __device__ inline void gather_items(
	const uint16_t *offset, uint32_t slots, const T *from, T *to)
{
	for (uint32_t j = threadIdx.x; j < slots; j += ITEMS_IN_FLIGHT * blockDim.x) {
		T item[ITEMS_IN_FLIGHT] = {};

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS_IN_FLIGHT; k++)
			if (j + k * blockDim.x < slots)
				item[k] = from[offset[j + k * blockDim.x]];
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS_IN_FLIGHT; k++)
			if (j + k * blockDim.x < slots)
				to[j + k * blockDim.x] = item[k];
	}
}

/* For a block: one loop per item size, as compact/shared.cu explains. */
template <class E>
static __device__ inline void gather_columns(const struct expand_tiles<E> &job,
	const uint16_t *offset, uint32_t before, uint64_t first, uint32_t slots)
{
#define X(item_bytes, type)                                                                    \
	for (uint32_t k = 0; k < job.n_columns; k++)                                           \
		if (job.column[k].bytes == item_bytes)                                         \
			gather_items(offset, slots, (const type *)job.column[k].from + before, \
				(type *)job.column[k].to + first);
	SL_COMPACT_ITEMS(X)
#undef X
}

/* Positions of the marks of a tile: its slots, those before them in a vector, and whole rows. */
static __host__ __device__ __forceinline__ uint32_t positions_of(uint32_t items)
{
	return (items + WIDTH - 1 + ROW - 1) / ROW * ROW;
}

/*
 * One block per tile of job.items ends and slots. Marks begin at a multiple of 16 bytes of out, so
 * the tile's first slot is at position `skip` of them. Ends that do not ascend may give corners
 * that do not follow one another; the tile then has no ends or no slots.
 */
template <class E, bool HAS_COLUMNS>
static __global__ void __launch_bounds__(LANES *WARPS_MAX) tile_kernel(struct expand_tiles<E> job)
{
	SL_SHARED_DYNAMIC(uint16_t, mark);
	SL_SHARED(struct expand_shared, s);
	uint64_t begin = diagonal_of(job, blockIdx.x), end = diagonal_of(job, blockIdx.x + 1);

	sl_wait_for_previous();
	sl_trigger_next();
	for (uint32_t k = threadIdx.x / LANES; k < 2; k += blockDim.x / LANES) {
		uint32_t ends = job.corner ? job.corner[blockIdx.x + k]
		                           : search_diagonal(job, k == 0 ? begin : end);

		if (threadIdx.x % LANES == 0)
			s.ends_before[k] = ends;
	}
	for (uint32_t i = threadIdx.x; i < positions_of(job.items) / 2; i += blockDim.x)
		((uint32_t *)mark)[i] = 0;
	__syncthreads();
	uint32_t before = s.ends_before[0];
	uint32_t to = larger(before, s.ends_before[1]);
	uint64_t first = begin - before;
	uint32_t slots = to - before < end - begin ? (uint32_t)(end - begin - (to - before)) : 0;
	if (slots == 0)
		return;
	uint32_t skip = (uint32_t)(((uintptr_t)job.out / sizeof(*job.out) + first) % WIDTH);
	mark_ends(job, before, to, first, slots, mark + skip);
	__syncthreads();
	scan_marks<HAS_COLUMNS>(
		&s, mark, skip, skip + slots, before, job.out ? job.out + first - skip : nullptr);
	if (HAS_COLUMNS) {
		__syncthreads();
		gather_columns(job, mark + skip, before, first, slots);
	}
}

/* --- host ------------------------------------------------------------------------------------- */

/* Bytes of the marks of a tile. */
static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	(void)type;
	return positions_of(tuning.block * tuning.items) * sizeof(uint16_t);
}

/* Tiles for so many ends and slots. */
static uint32_t tiles_for(uint64_t all, struct sl_tuning tuning)
{
	return sl_grid(all, tuning.block * tuning.items);
}

/* The corners; choose() may have smaller tiles than the default, but then blocks search. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_cut_items(&a, (uint64_t)tiles_for((uint64_t)shape->n + shape->n_out, shape->tuning) + 1,
		sizeof(uint32_t));
	return a.used;
}

/*
 * Few items: tiles of half, a quarter and so on of the default, until there are two tiles per
 * multiprocessor.
 */
static struct sl_tuning choose(struct sl_tuning tuning, uint64_t all, uint32_t multiprocessors)
{
	if (tuning.block != DEFAULT_BLOCK || tuning.items != DEFAULT_ITEMS)
		return tuning;
	while (tuning.items > LEAST_ITEMS && tiles_for(all, tuning) < 2 * multiprocessors)
		tuning.items /= 2;
	return tuning;
}

template <class E> static enum sl_status expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	uint64_t all = (uint64_t)job->n - 1 + job->n_out;
	struct expand_tiles<E> t = {
		(const E *)job->runs, job->n - 1, job->n_out, 0, job->out, nullptr, job->n_columns
	};
	struct sl_arena a = x->scratch;
	uint32_t tiles;
	struct sl_limits limits;
	struct sl_tuning tuning;

	SL_TRY(sl_device_limits(&limits));
	tuning = choose(x->tuning, all, limits.multiprocessors);
	t.items = tuning.block * tuning.items;
	tiles = tiles_for(all, tuning);
	for (uint32_t k = 0; k < job->n_columns; k++)
		t.column[k] = job->column[k];
	if (tiles > BLOCKS_AT_ONCE * limits.multiprocessors) {
		t.corner = (uint32_t *)sl_cut_items(&a, (uint64_t)tiles + 1, sizeof(*t.corner));
		SL_TRY(SL_LAUNCH(corner_kernel<E>, sl_grid((uint64_t)tiles + 1, 128 / LANES), 128,
			0, x->stream, t, tiles + 1));
	}
	return sl_launch_early("tile_kernel",
		job->n_columns > 0 ? tile_kernel<E, true> : tile_kernel<E, false>, tiles,
		tuning.block, shared_bytes(tuning, job->type), x->stream, t);
}

static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	return job->type == SL_U32 ? expand<uint32_t>(x, job) : expand<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_expand_shared) = {
	.name = "shared",
	.primitive = SL_EXPAND,
	.space = SL_DEVICE,
	.help = "tiles of runs and slots by merge path: marks in shared memory, scanned",
	/* marks of 16 KiB: 5 blocks per multiprocessor of an H200, which 46 registers allow */
	.tunable = {.block = DEFAULT_BLOCK,
		.block_step = LANES,
		.block_most = LANES * WARPS_MAX,
		.items = DEFAULT_ITEMS,
		.items_can = {4, 8, 16, 32},
		.shared_bytes = shared_bytes},
	.scratch = scratch,
	.expand = run,
};
