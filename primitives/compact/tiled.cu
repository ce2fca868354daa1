/*
 * compact/tiled.cu - stream compaction by tiles: count the survivors of each tile, scan the counts,
 * then scan the flags of each tile in shared memory and scatter.
 *
 * Third of the device backends naive -> work_efficient -> tiled -> shared. A tile is scanned by
 * Blelloch's tree in shared memory (scan/tiled.cu draws it). Two tiles of 4 flags:
 *
 *	keep                 1   0   1   1 | 0   1   1   0
 *	up-sweep: count                  3 |             2      first kernel
 *	counts scanned                   0 |             3      the scan that the job names
 *	tile scanned         0   1   1   2 | 0   0   1   2      second kernel: both sweeps
 *	position             0       1   2 |     3   4          count before the tile + in the tile
 *
 * The first kernel needs only the sum of a tile, the root of the tree after the up-sweep. The
 * second kernel scans the tile and writes index and columns of each survivor to its position. (G.
 * E. Blelloch, Prefix sums and their applications, 1990; M. Harris, S. Sengupta and J. D. Owens,
 * Parallel prefix sum (scan) with CUDA, GPU Gems 3, chapter 39, 2007.)
 *
 * Against naive: positions are used where they are computed, in shared memory, so no array of n
 * positions passes through global memory. Against work_efficient: one count per tile instead of one
 * per 32 flags, and one kernel for all columns, which computes the positions once. But each flag is
 * an item of the tree, where work_efficient counts 32 of them with one instruction.
 *
 * Memory: 2 bytes read per flag, 4 written per survivor, 4 per tile and pass of the scan of counts;
 * each column reads the sectors that contain a survivor. Work: about 3 additions per flag. Depth: 3
 * log2(tile) levels with a barrier after each, and those of the scan.
 *
 * Option: padding=on (the default) or off: against conflicts of memory banks, see tile_tree.cuh.
 *
 * Launches: 2 and those of the scan. Scratch: one count per tile, and the scratch of the scan.
 * Limits: n < 2^32; block is a multiple of 32 up to 1024.
 */
#include "items.h"
#include "primitives/count.cuh"
#include "primitives/scan/scan.h"
#include "primitives/scan/tile_tree.cuh"

enum { BLOCK_MAX = 1024 };

/* Arguments of both kernels, by value. One block per tile. */
struct compact_tiles {
	const uint8_t *keep;
	struct sl_count n;
	uint32_t leaves;
	uint32_t *count; /* per tile: its survivors, after the scan those before the tile */
	uint32_t *out, *n_out;
	uint32_t n_columns;
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
};

/* Stores 1 for a survivor and otherwise 0 in each leaf. Flags past the last count as 0. */
template <bool PADDED>
static __device__ __forceinline__ void load_flags(
	const struct compact_tiles &job, uint64_t first, const tile_tree<uint32_t, PADDED> &tree)
{
	uint64_t n = sl_count_read(job.n);

	for (uint32_t i = threadIdx.x; i < tree.leaves; i += blockDim.x)
		tree[i] = first + i < n ? job.keep[first + i] != 0 : 0;
}

/* count[tile] = the survivors of the tile. */
template <bool PADDED>
static __global__ void __launch_bounds__(BLOCK_MAX) count_kernel(struct compact_tiles job)
{
	SL_SHARED_DYNAMIC(uint32_t, slots);
	const tile_tree<uint32_t, PADDED> tree = {slots, job.leaves};
	uint64_t first = (uint64_t)blockIdx.x * job.leaves;
	uint32_t count = 0;

	if (first < sl_count_read(job.n)) {
		load_flags(job, first, tree);
		count = tree.up_sweep();
	}
	if (threadIdx.x == 0)
		job.count[blockIdx.x] = count;
}

/* Calls each(i, to) for the survivors of a tile: item i of the input moves to position to. */
template <bool PADDED, class Each>
static __device__ __forceinline__ void for_survivors(const struct compact_tiles &job,
	uint64_t first, const tile_tree<uint32_t, PADDED> &tree, const Each &each)
{
	uint32_t before = job.count[blockIdx.x];
	uint64_t n = sl_count_read(job.n);

	for (uint32_t i = threadIdx.x; i < tree.leaves && first + i < n; i += blockDim.x)
		if (job.keep[first + i])
			each(first + i, before + tree[i]);
}

/* Copies a column's items of the survivors of a tile. */
template <bool PADDED>
static __device__ __forceinline__ void scatter_column(const struct compact_tiles &job,
	uint64_t first, const tile_tree<uint32_t, PADDED> &tree, const struct sl_compact_column &c)
{
	switch (c.bytes) {
#define X(item_bytes, type)                                                    \
	case item_bytes:                                                       \
		for_survivors(job, first, tree, [&](uint64_t i, uint32_t to) { \
			((type *)c.to)[to] = ((const type *)c.from)[i];        \
		});                                                            \
		break;
		SL_COMPACT_ITEMS(X)
#undef X
	}
}

/*
 * Scans the flags of a tile and writes its survivors. The last tile also writes the count of all.
 */
template <bool PADDED>
static __global__ void __launch_bounds__(BLOCK_MAX) scatter_kernel(struct compact_tiles job)
{
	SL_SHARED_DYNAMIC(uint32_t, slots);
	const tile_tree<uint32_t, PADDED> tree = {slots, job.leaves};
	uint64_t first = (uint64_t)blockIdx.x * job.leaves;
	uint32_t count;

	if (first >= sl_count_read(job.n) && blockIdx.x + 1 < gridDim.x)
		return;
	load_flags(job, first, tree);
	count = tree.scan();
	if (job.out)
		for_survivors(job, first, tree,
			[&](uint64_t i, uint32_t to) { job.out[to] = (uint32_t)i; });
	for (uint32_t k = 0; k < job.n_columns; k++)
		scatter_column(job, first, tree, job.column[k]);
	if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
		*job.n_out = job.count[blockIdx.x] + count;
}

/* --- host ------------------------------------------------------------------------------------- */

/* Scratch of one call. */
struct compact_tiled_scratch {
	uint32_t tiles;
	uint32_t *count; /* per tile */
};

static struct compact_tiled_scratch lay_out(struct sl_arena *a, uint32_t n, struct sl_tuning tuning)
{
	struct compact_tiled_scratch l;

	l.tiles = (uint32_t)sl_ceil_div(n, tile_tree_leaves(tuning));
	l.count = (uint32_t *)sl_cut_items(a, l.tiles, sizeof(*l.count));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_inner_scan_cut(&a, &shape->scan, &SL_NAME(sl_scan_tiled),
		lay_out(&a, shape->n, shape->tuning).tiles);
	return a.used;
}

/*
 * Queues count, scan and scatter on the stream. The scan works in place on the counts, with the
 * rest of the arena as its scratch.
 */
template <bool PADDED>
static enum sl_status compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	const struct compact_tiled_scratch l = lay_out(&inner.scratch, job->n, x->tuning);
	const struct sl_scan_job sum = {
		.in = l.count, .out = l.count, .n = l.tiles, .type = SL_U32};
	struct compact_tiles t = {job->keep, sl_count_of(job), tile_tree_leaves(x->tuning), l.count,
		job->out, job->n_out, job->n_columns};
	size_t bytes = tile_tree_bytes<uint32_t>(x->tuning);

	for (uint32_t k = 0; k < job->n_columns; k++)
		t.column[k] = job->column[k];
	SL_TRY(SL_LAUNCH(count_kernel<PADDED>, l.tiles, x->tuning.block, bytes, x->stream, t));
	SL_TRY(sl_inner_scan(&inner, &job->scan, &SL_NAME(sl_scan_tiled), &sum));
	return SL_LAUNCH(scatter_kernel<PADDED>, l.tiles, x->tuning.block, bytes, x->stream, t);
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	return x->tuning.padding == SL_PADDING_OFF ? compact<false>(x, job) : compact<true>(x, job);
}

static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	(void)type;
	return tile_tree_bytes<uint32_t>(tuning);
}

const struct sl_backend SL_NAME(sl_compact_tiled) = {
	.name = "tiled",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "count per tile, scan of the counts, scan of each tile in shared memory, scatter; "
		"scan/tiled unless the job names another scan",
	.uses_scan = true,
	.tunable = {.block = 128,
		.block_step = 32,
		.block_most = BLOCK_MAX,
		.items = 8,
		.items_can = {2, 4, 8, 16},
		.padding = SL_PADDING_ON,
		.shared_bytes = shared_bytes},
	.takes_n_on_device = true,
	.scratch = scratch,
	.compact = run,
};
