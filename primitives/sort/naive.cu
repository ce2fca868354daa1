/*
 * sort/naive.cu - radix sort by one bit per pass, from the least significant bit: the split.
 *
 * First of the device backends naive -> work_efficient -> tiled -> shared. A pass puts the keys
 * whose bit is 0 before those whose bit is 1 and keeps the order otherwise. The new position of a
 * zero is the number of zeros before it; that of a one is the number of all zeros plus the ones
 * before it. One scan of flags gives both. (Blelloch, Prefix sums and their applications, 1990.) A
 * warp ballot already counts 32 flags, so only the number of zeros per warp, among its 32 * items
 * keys, is scanned.
 *
 * Memory of a pass, per pair with u32 keys: reads 4 bytes to count, reads 8 and writes 8 to
 * scatter, and scans 1 / (32 * items) word. For 32 bits: 640 bytes, and about 80 more in scan/naive
 * at 4 items.
 *
 * Launches: per pass 2 and those of the scan. Scratch: a second buffer of n pairs, one count per
 * group, and the scratch of the scan. Limits: n < 2^32; block is a multiple of 32 up to 1024.
 */
#include "pairs.cuh"
#include "primitives/scan/scan.h"
#include "warp_ballot.cuh"

/*
 * Index of the warp's group: rows * 32 consecutive keys, which the warp reads row by row, one key
 * per lane.
 */
static __device__ __forceinline__ uint64_t group_index(void)
{
	return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
}

/*
 * Calls each(i) for the keys of the warp's group, row after row, whether or not there is a key i.
 */
template <class Each>
static __device__ __forceinline__ void for_rows(uint32_t rows, const Each &each)
{
	uint64_t first = group_index() * rows * WARP + lane_index();

	for (uint32_t row = 0; row < rows; row++)
		each(first + row * WARP);
}

/*
 * One warp per group: zeros[group] = number of its keys whose bit is 0. The entry past the last
 * group is 0.
 */
template <typename K>
static __global__ void count_kernel(const K *key, struct sl_count keys, struct digit_field bit,
	uint32_t rows, uint32_t *zeros, uint64_t groups)
{
	uint64_t n = sl_count_read(keys);
	uint32_t count = 0;

	for_rows(rows, [&](uint64_t i) {
		count += (uint32_t)__popc(
			__ballot_sync(SL_LANES, i < n && digit_in(key[i], bit) == 0));
	});
	if (lane_index() == 0 && group_index() <= groups)
		zeros[group_index()] = count;
}

/*
 * One warp per group. Now zeros[group] is the number of zeros before the group and zeros[groups]
 * their total. The stores of a row go to two contiguous ranges.
 */
template <typename K>
static __global__ void split_kernel(struct pairs<K> from, struct pairs<K> to, struct sl_count count,
	struct digit_field bit, uint32_t rows, const uint32_t *zeros, uint64_t groups)
{
	uint64_t group = group_index(), n = sl_count_read(count);
	uint32_t zero_at, one_at;

	if (group * rows * WARP >= n)
		return;
	zero_at = zeros[group];
	one_at = zeros[groups] + ((uint32_t)(group * rows * WARP) - zero_at);
	for_rows(rows, [&](uint64_t i) {
		bool is_zero = i < n && digit_in(from.key[i], bit) == 0;
		uint32_t votes = __ballot_sync(SL_LANES, is_zero);
		uint32_t before = count_lower_lanes(votes);

		if (i < n)
			move_pair(from, i, to,
				is_zero ? zero_at + before : one_at + (lane_index() - before));
		zero_at += (uint32_t)__popc(votes);
		one_at += (uint32_t)__popc(~votes);
	});
}

/* Scratch of one call. */
struct sort_naive_scratch {
	struct pair_buffer other;
	uint32_t *zeros; /* groups + 1 counts, then their exclusive scan */
	uint32_t groups;
};

static struct sort_naive_scratch lay_out(
	struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only, struct sl_tuning tuning)
{
	struct sort_naive_scratch l;

	l.other = cut_pair_buffer(a, n, type, keys_only);
	l.groups = (uint32_t)sl_ceil_div(n, (uint64_t)WARP * tuning.items);
	l.zeros = (uint32_t *)sl_cut_items(a, (uint64_t)l.groups + 1, sizeof(*l.zeros));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};
	struct sort_naive_scratch l =
		lay_out(&a, shape->n, shape->type, shape->keys_only, shape->tuning);

	sl_inner_scan_cut(&a, &shape->scan, &SL_NAME(sl_scan_naive), l.groups + 1);
	return a.used;
}

/* Queues all passes: count, scan in place, split. */
template <typename K> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_exec inner = *x;
	struct sort_naive_scratch l =
		lay_out(&inner.scratch, job->n, job->type, !job->index, x->tuning);
	struct sl_scan_job sum = {.in = l.zeros, .out = l.zeros, .n = l.groups + 1, .type = SL_U32};
	uint32_t block = x->tuning.block, rows = x->tuning.items;
	uint32_t grid = sl_grid((uint64_t)WARP * sum.n, block);

	return for_passes<K>(x, job, l.other, 1,
		[&](uint32_t, struct digit_field bit, struct pairs<K> from, struct pairs<K> to) {
			SL_TRY(SL_LAUNCH(count_kernel<K>, grid, block, 0, x->stream, from.key,
				sl_count_of(job), bit, rows, l.zeros, l.groups));
			SL_TRY(sl_inner_scan(&inner, &job->scan, &SL_NAME(sl_scan_naive), &sum));
			return SL_LAUNCH(split_kernel<K>, grid, block, 0, x->stream, from, to,
				sl_count_of(job), bit, rows, l.zeros, l.groups);
		});
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->type == SL_U32 ? sort<uint32_t>(x, job) : sort<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_sort_naive) = {
	.name = "naive",
	.primitive = SL_SORT,
	.space = SL_DEVICE,
	.help = "split by one bit per pass; scan/naive unless the job names another scan",
	.uses_scan = true,
	/* 4 rows per warp: the scan is a tenth of the traffic, and there are still enough warps */
	.tunable = {.block = 256,
		.block_step = WARP,
		.block_most = 1024,
		.items = 4,
		.items_can = {1, 2, 4, 8, 16, 32}},
	.takes_n_on_device = true,
	.scratch = scratch,
	.sort = run,
};
