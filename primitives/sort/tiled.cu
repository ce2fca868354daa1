/*
 * sort/tiled.cu - radix sort with 4-bit digits; each block sorts its tile in shared memory before
 * it writes, one bit after another.
 *
 * Third of the device backends naive -> work_efficient -> tiled -> shared. A pass over one digit
 * counts the digits of each tile, scans the table of counts (ordered by digit, then by tile), sorts
 * each tile by the digit, and writes it: key i of the sorted tile goes to
 *
 *	table[digit][tile] + i - (place of the digit's first key in the sorted tile).
 *
 * A tile is sorted by four splits, one per bit: keys whose bit is 0 move before those whose bit is
 * 1. The scan of "the bit is 0" in shared memory (scan/tiled.cu draws its up-sweep and down-sweep)
 * gives both positions:
 *
 *	bit                  1   0   1   0   0   1   1   0
 *	is 0                 0   1   0   1   1   0   0   1      4 zeros
 *	scanned              0   0   1   1   2   3   3   3
 *	position of a zero       0       1   2           3      scanned
 *	position of a one    4       5           6   7          zeros + i - scanned
 *
 * (G. E. Blelloch, Prefix sums and their applications, 1990; M. Harris, S. Sengupta and J. D.
 * Owens, Parallel prefix sum (scan) with CUDA, GPU Gems 3, section 39.3.3, 2007; N. Satish, M.
 * Harris and M. Garland, Designing efficient sorting algorithms for manycore GPUs, 2009.)
 *
 * Against work_efficient: a pass moves the same 20 bytes per pair with u32 keys, and the same
 * number of launches. But the keys of a digit are adjacent in the sorted tile, so neighbouring
 * threads write neighbouring addresses: one or two pieces per digit and tile, not per digit and row
 * of a warp. It pays with shared memory: 4 scans of the tile per pass, each about 2 additions per
 * key in 2 log2(tile) levels with a barrier after each. shared ranks 8 bits at once in registers
 * instead.
 *
 * Option: padding=on (the default) or off: against conflicts of memory banks, see tile_tree.cuh.
 *
 * Launches: per pass 2 and those of the scan. Scratch: a second buffer of n pairs, 16 counts per
 * tile, and the scratch of the scan. Limits: n < 2^32; block is a multiple of 32 up to 1024.
 */
#include "pairs.cuh"
#include "primitives/scan/scan.h"
#include "primitives/scan/tile_tree.cuh"

enum { DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS, BLOCK_MAX = 1024 };

/* Arguments of both kernels, by value; one block per tile. */
template <typename K> struct tiled_pass {
	struct pairs<K> from, to;
	struct sl_count n;
	uint32_t leaves; /* pairs of a tile */
	struct digit_field digit;
	uint32_t *table; /* [digit][tile]: number of keys, then output index of the first */
};

/* One word per digit, in shared memory. */
struct digit_words {
	uint32_t of[DIGITS];
};

/* Pairs of the tile of this block. */
template <typename K>
static __device__ __forceinline__ uint32_t tile_count(const struct tiled_pass<K> &p)
{
	uint64_t first = (uint64_t)blockIdx.x * p.leaves, n = sl_count_read(p.n);
	uint64_t left = first < n ? n - first : 0;

	return left < p.leaves ? (uint32_t)left : p.leaves;
}

/* The entry of a digit and this tile in the table. */
template <typename K>
static __device__ __forceinline__ uint32_t &table_entry(
	const struct tiled_pass<K> &p, uint32_t digit)
{
	return p.table[(uint64_t)digit * gridDim.x + blockIdx.x];
}

/* Counts the digits of each tile. The order of the atomic additions does not matter. */
template <typename K>
static __global__ void __launch_bounds__(BLOCK_MAX) count_kernel(struct tiled_pass<K> p)
{
	SL_SHARED(struct digit_words, s_count);
	const K *key = p.from.key + (uint64_t)blockIdx.x * p.leaves;
	uint32_t n = tile_count(p);

	if (threadIdx.x < DIGITS)
		s_count.of[threadIdx.x] = 0;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		atomicAdd(&s_count.of[digit_in(key[i], p.digit)], 1u);
	__syncthreads();
	if (threadIdx.x < DIGITS)
		table_entry(p, threadIdx.x) = s_count.of[threadIdx.x];
}

/*
 * Loads the tile of this block. Places without a pair get the largest key: they come after all
 * pairs, and every split keeps them there.
 */
template <typename K>
static __device__ __forceinline__ void load_tile(
	const struct tiled_pass<K> &p, struct pairs<K> s_tile)
{
	uint64_t first = (uint64_t)blockIdx.x * p.leaves;
	uint32_t n = tile_count(p);

	for (uint32_t i = threadIdx.x; i < p.leaves; i += blockDim.x) {
		s_tile.key[i] = i < n ? p.from.key[first + i] : ~(K)0;
		if (s_tile.index)
			s_tile.index[i] = i < n ? p.from.index[first + i] : 0;
	}
}

/*
 * Splits a tile by one bit: zeros first, otherwise in the same order. All of it is in shared
 * memory.
 */
template <typename K, bool PADDED>
static __device__ __forceinline__ void split_tile(const tile_tree<uint32_t, PADDED> &tree,
	struct pairs<K> from, struct pairs<K> to, struct digit_field bit)
{
	uint32_t zeros;

	for (uint32_t i = threadIdx.x; i < tree.leaves; i += blockDim.x)
		tree[i] = digit_in(from.key[i], bit) == 0;
	zeros = tree.scan();
	for (uint32_t i = threadIdx.x; i < tree.leaves; i += blockDim.x)
		move_pair(from, i, to,
			digit_in(from.key[i], bit) == 0 ? tree[i] : zeros + i - tree[i]);
	__syncthreads();
}

/*
 * Writes a sorted tile. s_offset.of[digit] becomes the distance from the place of a key in the tile
 * to its place in the output, modulo 2^32; the thread with the digit's first key stores it.
 */
template <typename K>
static __device__ __forceinline__ void write_tile(
	const struct tiled_pass<K> &p, struct pairs<K> s_tile, struct digit_words *s_offset)
{
	uint32_t n = tile_count(p);

	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
		uint32_t digit = digit_in(s_tile.key[i], p.digit);

		if (i == 0 || digit != digit_in(s_tile.key[i - 1], p.digit))
			s_offset->of[digit] = table_entry(p, digit) - i;
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		move_pair(s_tile, i, p.to, s_offset->of[digit_in(s_tile.key[i], p.digit)] + i);
}

/* Dynamic shared memory of scatter_kernel(): two tiles of pairs and the tree. */
template <typename K, bool INDEXED, bool PADDED> struct scatter_memory {
	struct pairs<K> tile[2];
	tile_tree<uint32_t, PADDED> tree;

	__device__ __forceinline__ scatter_memory(K *shared, uint32_t leaves)
	{
		uint32_t *words = (uint32_t *)(shared + 2 * (size_t)leaves);

		for (uint32_t k = 0; k < 2; k++)
			tile[k] = {shared + k * leaves, INDEXED ? words + k * leaves : nullptr};
		tree = {words + (INDEXED ? 2 * leaves : 0), leaves};
	}
};

/*
 * Sorts each tile by the digit, one bit after another, and writes it to its places in the output.
 */
template <typename K, bool INDEXED, bool PADDED>
static __global__ void __launch_bounds__(BLOCK_MAX) scatter_kernel(struct tiled_pass<K> p)
{
	SL_SHARED_DYNAMIC(K, shared);
	SL_SHARED(struct digit_words, s_offset);
	const scatter_memory<K, INDEXED, PADDED> s(shared, p.leaves);
	uint32_t bits = (uint32_t)__popc(p.digit.mask);

	if ((uint64_t)blockIdx.x * p.leaves >= sl_count_read(p.n))
		return;
	load_tile(p, s.tile[0]);
	for (uint32_t bit = 0; bit < bits; bit++)
		split_tile(
			s.tree, s.tile[bit % 2], s.tile[(bit + 1) % 2], {p.digit.shift + bit, 1});
	write_tile(p, s.tile[bits % 2], &s_offset);
}

/* --- host ------------------------------------------------------------------------------------- */

/* Bytes of dynamic shared memory of scatter_kernel(). */
static size_t scatter_bytes(struct sl_tuning tuning, enum sl_type type, bool keys_only)
{
	size_t pair = sl_type_bytes(type) + (keys_only ? 0 : sizeof(uint32_t));

	return 2 * tile_tree_leaves(tuning) * pair + tile_tree_bytes<uint32_t>(tuning);
}

static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	return scatter_bytes(tuning, type, false) + sizeof(struct digit_words);
}

/* Scratch of one call. */
struct sort_tiled_scratch {
	struct pair_buffer other;
	uint32_t *table; /* [digit][tile]: number of keys, then output index of the first */
	uint32_t tiles;
};

static struct sort_tiled_scratch lay_out(
	struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only, struct sl_tuning tuning)
{
	struct sort_tiled_scratch l;

	l.other = cut_pair_buffer(a, n, type, keys_only);
	l.tiles = (uint32_t)sl_ceil_div(n, tile_tree_leaves(tuning));
	l.table = (uint32_t *)sl_cut_items(a, (uint64_t)l.tiles * DIGITS, sizeof(*l.table));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};
	struct sort_tiled_scratch l =
		lay_out(&a, shape->n, shape->type, shape->keys_only, shape->tuning);

	sl_inner_scan_cut(&a, &shape->scan, &SL_NAME(sl_scan_tiled), l.tiles * DIGITS);
	return a.used;
}

/* Queues all passes: count, scan in place, sort and scatter the tiles. */
template <typename K, bool INDEXED, bool PADDED>
static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_exec inner = *x;
	const struct sort_tiled_scratch l =
		lay_out(&inner.scratch, job->n, job->type, !INDEXED, x->tuning);
	const struct sl_scan_job sum = {
		.in = l.table, .out = l.table, .n = l.tiles * DIGITS, .type = SL_U32};
	uint32_t block = x->tuning.block, leaves = tile_tree_leaves(x->tuning);
	size_t bytes = scatter_bytes(x->tuning, job->type, !INDEXED);

	return for_passes<K>(x, job, l.other, DIGIT_BITS,
		[&](uint32_t, struct digit_field d, struct pairs<K> from, struct pairs<K> to) {
			const struct tiled_pass<K> p = {
				from, to, sl_count_of(job), leaves, d, l.table
			};

			SL_TRY(SL_LAUNCH(count_kernel<K>, l.tiles, block, 0, x->stream, p));
			SL_TRY(sl_inner_scan(&inner, &job->scan, &SL_NAME(sl_scan_tiled), &sum));
			return SL_LAUNCH((scatter_kernel<K, INDEXED, PADDED>), l.tiles, block,
				bytes, x->stream, p);
		});
}

/* Selects the kernel instance by the index, which the job may lack, and the padding. */
template <typename K>
static enum sl_status sort_as(struct sl_exec *x, const struct sl_sort_job *job)
{
	if (x->tuning.padding == SL_PADDING_OFF)
		return job->index ? sort<K, true, false>(x, job) : sort<K, false, false>(x, job);
	return job->index ? sort<K, true, true>(x, job) : sort<K, false, true>(x, job);
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->type == SL_U32 ? sort_as<uint32_t>(x, job) : sort_as<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_sort_tiled) = {
	.name = "tiled",
	.primitive = SL_SORT,
	.space = SL_DEVICE,
	.help = "count, scan, sort of each tile in shared memory, scatter, 4 bits per pass; "
		"scan/tiled unless the job names another scan",
	.uses_scan = true,
	/*
	 * tiles of 1024 pairs: 64 keys per digit are adjacent, and several tiles fit a
	 * multiprocessor
	 */
	.tunable = {.block = 128,
		.block_step = 32,
		.block_most = BLOCK_MAX,
		.items = 8,
		.items_can = {1, 2, 4, 8},
		.padding = SL_PADDING_ON,
		.shared_bytes = shared_bytes},
	.takes_n_on_device = true,
	.scratch = scratch,
	.sort = run,
};
