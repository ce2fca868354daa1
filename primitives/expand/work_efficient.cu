/*
 * expand/work_efficient.cu - expansion by scan: write how many runs end at each slot, add up.
 *
 * Second of the device backends naive -> work_efficient -> tiled -> shared. The inclusive sum of
 * the number of runs that end at a slot is the number of runs that end at or before it, which is
 * the index of the slot's run.
 *
 *	ends             2   2   5   (6)         the last end is not used
 *	runs that end    0   0   2   0   0   1
 *	sums             0   0   2   2   2   3
 *
 * Neighbouring runs may end at the same slot, all n of them in the worst case. Only the first and
 * the last one of them add to the slot, minus and plus their index modulo 2^32, so that at most two
 * atomic additions meet at a word.
 *
 * Against naive: O(n + n_out) instead of O(n_out log n) work, and no load depends on another one.
 *
 * Memory: 8 bytes read per end and two atomics per run that has slots; 4 bytes cleared and the scan
 * per slot. Launches: 2 and those of the scan, and 1 per column. Scratch: that of the scan, and the
 * indices of jobs with columns.
 */
#include "expand.cuh"
#include "primitives/scan/scan.h"

enum { BLOCK_MAX = 1024 };

template <class E>
static __global__ void __launch_bounds__(BLOCK_MAX)
	count_kernel(const E *end, uint64_t n, uint32_t *count, uint64_t n_out)
{
	sl_for_items(n, [=](uint64_t i) {
		E slot = end[i];
		bool is_first = i == 0 || end[i - 1] != slot;
		bool is_last = i + 1 == n || end[i + 1] != slot;

		if (slot < n_out && (is_first || is_last))
			atomicAdd(&count[slot],
				(is_last ? (uint32_t)i + 1 : 0) - (is_first ? (uint32_t)i : 0));
	});
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_expand_cut_indices(&a, shape->n_out, shape->n_columns, nullptr);
	sl_inner_scan_cut(&a, &shape->scan, &SL_NAME(sl_scan_work_efficient), shape->n_out);
	return a.used;
}

/* The scan works in place on the counts, with the rest of the arena as its scratch. */
static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_exec inner = *x;
	uint32_t *index =
		sl_expand_cut_indices(&inner.scratch, job->n_out, job->n_columns, job->out);
	struct sl_scan_job sum = {
		.in = index, .out = index, .n = job->n_out, .type = SL_U32, .inclusive = true};
	uint32_t n = job->n - 1, block = x->tuning.block;
	uint32_t grid = sl_grid(n, block);

	SL_TRY(sl_fill(index, 0, job->n_out * sizeof(*index), x->stream));
	SL_TRY(job->type == SL_U32 ? SL_LAUNCH(count_kernel<uint32_t>, grid, block, 0, x->stream,
					     (const uint32_t *)job->runs, n, index, job->n_out)
				   : SL_LAUNCH(count_kernel<uint64_t>, grid, block, 0, x->stream,
					     (const uint64_t *)job->runs, n, index, job->n_out));
	SL_TRY(sl_inner_scan(&inner, &job->scan, &SL_NAME(sl_scan_work_efficient), &sum));
	return gather_columns(x, job, index);
}

const struct sl_backend SL_NAME(sl_expand_work_efficient) = {
	.name = "work_efficient",
	.primitive = SL_EXPAND,
	.space = SL_DEVICE,
	.help = "count the runs that end at each slot, scan; scan/work_efficient unless the job "
		"names another scan",
	.uses_scan = true,
	.tunable = {.block = 256, .block_step = 1, .block_most = BLOCK_MAX},
	.scratch = scratch,
	.expand = run,
};
