/*
 * scan/tiled.cu - the scan of courses on GPU programming: each block scans a tile in shared memory,
 * the sums of the tiles are scanned in the same way, and each tile adds the sum of all tiles before
 * it.
 *
 * Third of the device backends naive -> work_efficient -> tiled -> shared.
 *
 * The scan of a tile is Blelloch's (tile_tree.cuh): an up-sweep and a down-sweep over a tree of
 * sums in shared memory. The tree takes no extra memory: a node overwrites the last leaf below it.
 * 8 items:
 *
 *	up-sweep: each node becomes the sum of its two children
 *
 *	   3     1     7     0     4     1     6     3
 *	    \____|      \____|      \____|      \____|      distance 1: 4 additions
 *	   3     4     7     7     4     5     6     9
 *	          \__________|            \__________|      distance 2: 2 additions
 *	   3     4     7    11     4     5     6    14
 *	                      \______________________|      distance 4: 1 addition
 *	   3     4     7    11     4     5     6    25      the root is the sum of the tile
 *
 *	down-sweep: the root becomes 0; then the left child takes the value of its parent, the sum of
 *	all leaves before it, and the right child that value plus the former left child
 *
 *	   3     4     7    11     4     5     6     0
 *	                      \______________________|      distance 4
 *	   3     4     7     0     4     5     6    11
 *	          \__________|            \__________|      distance 2
 *	   3     0     7     4     4    11     6    16
 *	    \____|      \____|      \____|      \____|      distance 1
 *	   0     3     4    11    11    15    16    22      the exclusive scan
 *
 * Tiles of 4 items would give the sums 11 and 14; their scan 0, 11 is added to both tiles:
 *
 *	items                3   1   7   0 | 4   1   6   3
 *	tiles scanned        0   3   4  11 | 0   4   5  11      sums 11 | 14
 *	sums scanned and added             +0 |             +11
 *	result               0   3   4  11 |11  15  16  22
 *
 * If the sums of the tiles fill more than one tile, they are scanned by the same two kernels, and
 * so on: tiles of 1024 items need one launch up to 2^10 items, three up to 2^20 and five up to
 * 2^30. (G. E. Blelloch, Prefix sums and their applications, 1990; M. Harris, S. Sengupta and J. D.
 * Owens, Parallel prefix sum (scan) with CUDA, GPU Gems 3, chapter 39, 2007.)
 *
 * Against work_efficient: the tree of a tile never leaves the chip. Global memory sees two reads
 * and two writes of each item, 16 bytes per u32 item instead of 32, and 2 log_tile(n) - 1 launches
 * instead of 2 log2(n). What remains to be gained (shared): the second read and write, which only
 * add the sum before the tile.
 *
 * Work: about 3n additions. Depth: 2 log2(tile) levels in each kernel, with a barrier after each.
 *
 * Option: padding=on (the default) or off. Without it, neighbouring threads access words of shared
 * memory that are a power of two apart, so up to 32 of them wait for the same memory bank;
 * tile_tree.cuh explains how an unused word after every 32 avoids that.
 *
 * Scratch: n / tile items for the sums, n / tile^2 for their sums, and so on. Limits: n < 2^32;
 * block is a multiple of 32 up to 1024.
 */
#include "order_levels.cuh"
#include "primitives/count.cuh"
#include "tile_tree.cuh"

enum {
	BLOCK_MAX = 1024,
	LEVELS_MAX = 6 /* a tile has at least 64 = 2^6 items, and 2^(6 * 6) > 2^32 */
};

/*
 * One block per tile: scans it from in to out, which may be the same array, and stores its sum in
 * sums[tile], 0 if count leaves the tile without items. sums may be NULL. After the last item the
 * tile is filled with zeros. An inclusive scan is the exclusive scan from the second leaf on,
 * followed by the sum of the tile.
 */
template <typename T, bool PADDED>
static __global__ void __launch_bounds__(BLOCK_MAX) scan_tiles_kernel(
	const T *in, T *out, struct sl_count count, uint32_t leaves, bool inclusive, T *sums)
{
	SL_SHARED_DYNAMIC(T, slots);
	const tile_tree<T, PADDED> tree = {slots, leaves};
	uint64_t first = (uint64_t)blockIdx.x * leaves, n = sl_count_read(count);
	T sum = 0;

	if (first >= n) {
		if (sums && threadIdx.x == 0)
			sums[blockIdx.x] = sum;
		return;
	}
	for (uint32_t i = threadIdx.x; i < leaves; i += blockDim.x)
		tree[i] = first + i < n ? in[first + i] : 0;
	sum = tree.scan();
	for (uint32_t i = threadIdx.x; i < leaves && first + i < n; i += blockDim.x)
		out[first + i] = i + inclusive < leaves ? tree[i + inclusive] : sum;
	if (sums && threadIdx.x == 0)
		sums[blockIdx.x] = sum;
}

/*
 * One block per tile: adds before[tile], the sum of all tiles before it, to the items of the tile.
 */
template <typename T>
static __global__ void __launch_bounds__(BLOCK_MAX)
	add_kernel(T *out, struct sl_count count, uint32_t leaves, const T *before)
{
	uint64_t first = (uint64_t)blockIdx.x * leaves, n = sl_count_read(count);

	for (uint32_t i = threadIdx.x; i < leaves && first + i < n; i += blockDim.x)
		out[first + i] += before[blockIdx.x];
}

/* --- host ------------------------------------------------------------------------------------- */

/* The tiles of each level; those of level k + 1 have the sums of the tiles of level k as items. */
struct scan_tiled_scratch {
	void *sums[LEVELS_MAX];     /* one per tile; NULL for the last level, a single tile */
	uint32_t tiles[LEVELS_MAX]; /* the last level has 1 */
};

static struct scan_tiled_scratch lay_out(
	struct sl_arena *a, uint32_t n, uint32_t leaves, size_t item_bytes)
{
	struct scan_tiled_scratch l = {};

	for (uint32_t level = 0; level < LEVELS_MAX; level++) {
		n = (uint32_t)sl_ceil_div(n, leaves);
		l.tiles[level] = n;
		if (n <= 1)
			break;
		l.sums[level] = sl_cut_items(a, n, item_bytes);
	}
	return l;
}

/* Bytes of scratch for any job up to shape: the sums of all levels. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	if (sl_type_is_float(shape->type))
		return order_scratch(shape);
	lay_out(&a, shape->n, tile_tree_leaves(shape->tuning), sl_type_bytes(shape->type));
	return a.used;
}

/*
 * Queues the scan of the items of a level: its tiles, their sums one level higher, the addition.
 */
template <typename T, bool PADDED>
static enum sl_status scan_level(struct sl_exec *x, const struct scan_tiled_scratch *l,
	uint32_t level, const T *in, T *out, struct sl_count count, bool inclusive)
{
	uint32_t tiles = l->tiles[level], leaves = tile_tree_leaves(x->tuning);
	T *sums = (T *)l->sums[level];

	SL_TRY(SL_LAUNCH((scan_tiles_kernel<T, PADDED>), tiles, x->tuning.block,
		tile_tree_bytes<T>(x->tuning), x->stream, in, out, count, leaves, inclusive, sums));
	if (tiles == 1)
		return SL_OK;
	SL_TRY((scan_level<T, PADDED>(x, l, level + 1, sums, sums, {tiles}, false)));
	return SL_LAUNCH(
		add_kernel<T>, tiles, x->tuning.block, 0, x->stream, out, count, leaves, sums);
}

template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	const struct scan_tiled_scratch l =
		lay_out(&a, job->n, tile_tree_leaves(x->tuning), sizeof(T));
	const T *in = (const T *)job->in;
	T *out = (T *)job->out;

	if (x->tuning.padding == SL_PADDING_OFF)
		return scan_level<T, false>(x, &l, 0, in, out, sl_count_of(job), job->inclusive);
	return scan_level<T, true>(x, &l, 0, in, out, sl_count_of(job), job->inclusive);
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (sl_type_is_float(job->type))
		return order_levels_of(x, job);
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	return type == SL_U32 ? tile_tree_bytes<uint32_t>(tuning)
	                      : tile_tree_bytes<uint64_t>(tuning);
}

const struct sl_backend SL_NAME(sl_scan_tiled) = {
	.name = "tiled",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Blelloch per tile in shared memory; the sums of the tiles are scanned recursively "
		"and added",
	/*
	 * tiles of 1024 items, as many as the largest block of a course version has with 2 per
	 * thread
	 */
	.tunable = {.block = 128,
		.block_step = 32,
		.block_most = BLOCK_MAX,
		.items = 8,
		.items_can = {2, 4, 8, 16},
		.padding = SL_PADDING_ON,
		.shared_bytes = shared_bytes},
	.takes_n_on_device = true,
	.scratch = scratch,
	.scan = run,
	.sum = order_sum_of,
};
