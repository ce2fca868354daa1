/*
 * sort/work_efficient.cu - radix sort with 4-bit digits: count, scan, scatter.
 *
 * Second of the device backends naive -> work_efficient -> tiled -> shared. A block counts how many
 * keys of its tile have each of the 16 digits. The counts are stored in a table ordered by digit,
 * then by tile, so that its exclusive scan is the output position of each tile's first key of each
 * digit. A second kernel ranks the keys within the tile and writes them there. (Zagha and Blelloch,
 * Radix sort for vector multiprocessors, 1991; Satish, Harris and Garland, Designing efficient
 * sorting algorithms for manycore GPUs, 2009.)
 *
 * Within a warp, counts and ranks come from ballots: lane d keeps the count of digit d and derives
 * it from the 4 ballots of each row. Only one table of 16 counts per warp uses shared memory.
 *
 * Against naive: four bits per pass. A pass of u32 keys moves the same 20 bytes per pair and scans
 * 16 / (block * items) words per key, but 8 passes replace 32.
 *
 * Launches: per pass 2 and those of the scan. Scratch: a second buffer of n pairs, 16 counts per
 * tile, and the scratch of the scan. Limits: n < 2^32; block is a multiple of 32 up to 512.
 */
#include "primitives/scan/scan.h"
#include "warp_striped.cuh"

enum { DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS, BLOCK_MAX = 512, WARPS_MAX = BLOCK_MAX / WARP };

/* Digit counts of the warps of a block. */
struct warp_counts {
	uint32_t of[WARPS_MAX][DIGITS];
};

/* For a warp: lanes d and 16 + d return how many keys of digit d the warp has. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ uint32_t count_rows(
	const struct warp_striped<FULL> &r, const K (&key)[ITEMS], struct digit_field d)
{
	uint32_t count = 0;

	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		if (r.is_past(row))
			break;
		count += (uint32_t)__popc(lanes_with(
			vote<DIGIT_BITS>(r.digit_of(key[row], row, d)), lane_index() % DIGITS));
	}
	return count;
}

/* Stores the counts of the calling warp in shared memory. */
static __device__ __forceinline__ void put_counts(struct warp_counts *s_counts, uint32_t count)
{
	if (lane_index() < DIGITS)
		s_counts->of[warp_index()][lane_index()] = count;
}

/* Arguments of both kernels, by value; one block per tile. */
template <typename K> struct digit_pass {
	struct pairs<K> from, to;
	struct sl_count n;
	struct digit_field digit;
	uint32_t *table; /* [digit][tile]: number of keys, then output index of the first */
};

/* Counts the digits of a tile and writes them to the table. */
template <typename K, int ITEMS, bool FULL>
static __device__ __forceinline__ void count_tile(
	const struct digit_pass<K> &p, uint64_t first, uint32_t n, struct warp_counts *s_counts)
{
	const struct warp_striped<FULL> r(ITEMS, n);
	uint32_t digit = threadIdx.x, sum = 0;
	K key[ITEMS];

	r.load(p.from.key + first, key);
	put_counts(s_counts, count_rows(r, key, p.digit));
	__syncthreads();
	if (digit >= DIGITS)
		return;
	for (uint32_t warp = 0; warp < blockDim.x / WARP; warp++)
		sum += s_counts->of[warp][digit];
	p.table[(uint64_t)digit * gridDim.x + blockIdx.x] = sum;
}

/*
 * Ranks and writes a tile. Counts its digits again, now per warp, because the ranks of a warp start
 * after the keys of the warps before it; storing the counts of all warps in the table instead would
 * make it eight times as large.
 */
template <typename K, int ITEMS, bool FULL>
static __device__ __forceinline__ void scatter_tile(
	const struct digit_pass<K> &p, uint64_t first, uint32_t n, struct warp_counts *s_counts)
{
	const struct warp_striped<FULL> r(ITEMS, n);
	uint32_t mine = lane_index() % DIGITS, index[ITEMS] = {}, next;
	K key[ITEMS];

	r.load(p.from.key + first, key);
	if (p.from.index)
		r.load(p.from.index + first, index);
	put_counts(s_counts, count_rows(r, key, p.digit));
	next = p.table[(uint64_t)mine * gridDim.x + blockIdx.x];
	__syncthreads();
	for (uint32_t warp = 0; warp < warp_index(); warp++)
		next += s_counts->of[warp][mine];

	/* next: output index of the warp's next key of digit mine */
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		uint32_t digit = r.digit_of(key[row], row, p.digit), at;
		struct votes<DIGIT_BITS> v;

		if (r.is_past(row))
			break;
		v = vote<DIGIT_BITS>(digit);
		at = __shfl_sync(SL_LANES, next, (int)digit) +
		     count_lower_lanes(lanes_with(v, digit));
		next += (uint32_t)__popc(lanes_with(v, mine));
		if (r.has(row)) {
			p.to.key[at] = key[row];
			if (p.from.index)
				p.to.index[at] = index[row];
		}
	}
}

/* The pairs from first on; 0 if there are none. */
template <typename K>
static __device__ __forceinline__ uint64_t pairs_from(const struct digit_pass<K> &p, uint64_t first)
{
	uint64_t n = sl_count_read(p.n);

	return first < n ? n - first : 0;
}

/* 512 threads per block: a thread may use 128 registers. */
template <typename K, int ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX) count_kernel(struct digit_pass<K> p)
{
	SL_SHARED(struct warp_counts, s_counts);
	uint32_t tile_items = blockDim.x * ITEMS;
	uint64_t first = (uint64_t)blockIdx.x * tile_items, left = pairs_from(p, first);

	if (left >= tile_items)
		count_tile<K, ITEMS, true>(p, first, tile_items, &s_counts);
	else
		count_tile<K, ITEMS, false>(p, first, (uint32_t)left, &s_counts);
}

template <typename K, int ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX) scatter_kernel(struct digit_pass<K> p)
{
	SL_SHARED(struct warp_counts, s_counts);
	uint32_t tile_items = blockDim.x * ITEMS;
	uint64_t first = (uint64_t)blockIdx.x * tile_items, left = pairs_from(p, first);

	if (left >= tile_items)
		scatter_tile<K, ITEMS, true>(p, first, tile_items, &s_counts);
	else if (left > 0)
		scatter_tile<K, ITEMS, false>(p, first, (uint32_t)left, &s_counts);
}

/* Scratch of one call. */
struct sort_work_efficient_scratch {
	struct pair_buffer other;
	uint32_t *table; /* [digit][tile]: number of keys, then output index of the first */
	uint32_t tiles;
};

static struct sort_work_efficient_scratch lay_out(
	struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only, struct sl_tuning tuning)
{
	struct sort_work_efficient_scratch l;

	l.other = cut_pair_buffer(a, n, type, keys_only);
	l.tiles = (uint32_t)sl_ceil_div(n, (uint64_t)tuning.block * tuning.items);
	l.table = (uint32_t *)sl_cut_items(a, (uint64_t)l.tiles * DIGITS, sizeof(*l.table));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};
	struct sort_work_efficient_scratch l =
		lay_out(&a, shape->n, shape->type, shape->keys_only, shape->tuning);

	sl_inner_scan_cut(&a, &shape->scan, &SL_NAME(sl_scan_work_efficient), l.tiles * DIGITS);
	return a.used;
}

/* Queues all passes: count, scan in place, scatter. */
template <typename K, int ITEMS>
static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_exec inner = *x;
	struct sort_work_efficient_scratch l =
		lay_out(&inner.scratch, job->n, job->type, !job->index, x->tuning);
	struct sl_scan_job sum = {
		.in = l.table, .out = l.table, .n = l.tiles * DIGITS, .type = SL_U32};
	uint32_t block = x->tuning.block;

	return for_passes<K>(x, job, l.other, DIGIT_BITS,
		[&](uint32_t, struct digit_field d, struct pairs<K> from, struct pairs<K> to) {
			struct digit_pass<K> p = {
				from, to, sl_count_of(job), d, l.table
			};

			SL_TRY(SL_LAUNCH(
				(count_kernel<K, ITEMS>), l.tiles, block, 0, x->stream, p));
			SL_TRY(sl_inner_scan(
				&inner, &job->scan, &SL_NAME(sl_scan_work_efficient), &sum));
			return SL_LAUNCH(
				(scatter_kernel<K, ITEMS>), l.tiles, block, 0, x->stream, p);
		});
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	return sl_with_items<1, 2, 4, 8, 16>(x->tuning.items, [=](auto items) {
		return job->type == SL_U32 ? sort<uint32_t, items>(x, job)
		                           : sort<uint64_t, items>(x, job);
	});
}

const struct sl_backend SL_NAME(sl_sort_work_efficient) = {
	.name = "work_efficient",
	.primitive = SL_SORT,
	.space = SL_DEVICE,
	.help = "count, scan, scatter, 4 bits per pass; scan/work_efficient unless the job names "
		"another scan",
	.uses_scan = true,
	.tunable = {.block = 256,
		.block_step = WARP,
		.block_most = BLOCK_MAX,
		.items = 8,
		.items_can = {1, 2, 4, 8, 16}},
	.takes_n_on_device = true,
	.scratch = scratch,
	.sort = run,
};
