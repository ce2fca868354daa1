/*
 * expand/naive.cu - a binary search per slot in global memory.
 *
 * First of the device backends naive -> work_efficient -> tiled -> shared. Each thread searches the
 * end of a run that is greater than its slot, as std::upper_bound() does.
 *
 * Memory per slot: log2 n loads, of which neighbouring threads share all but the last few, and 4
 * bytes written. Work: n_out log2 n. The loads of a search depend on each other, so the time is
 * latency times log2 n unless many threads search at once.
 *
 * Launches: 1, and 1 per column. Scratch: the indices of jobs with columns.
 */
#include "expand.cuh"

/* The largest block of every CUDA device. */
enum { BLOCK_MAX = 1024 };

template <class E>
static __global__ void __launch_bounds__(BLOCK_MAX, 1)
	search_kernel(const E *end, uint32_t n, uint32_t *out, uint64_t n_out)
{
	sl_for_items(n_out, [=](uint64_t j) { out[j] = ends_up_to(end, n, j); });
}

template <class E> static enum sl_status expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *index = sl_expand_cut_indices(&a, job->n_out, job->n_columns, job->out);
	uint32_t block = x->tuning.block;

	SL_TRY(SL_LAUNCH(search_kernel<E>, sl_grid(job->n_out, block), block, 0, x->stream,
		(const E *)job->runs, job->n - 1, index, job->n_out));
	return gather_columns(x, job, index);
}

static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	return job->type == SL_U32 ? expand<uint32_t>(x, job) : expand<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_expand_naive) = {
	.name = "naive",
	.primitive = SL_EXPAND,
	.space = SL_DEVICE,
	.help = "a binary search per slot in global memory",
	.tunable = {.block = 256, .block_step = 1, .block_most = BLOCK_MAX},
	.scratch = sl_expand_scratch_of_indices,
	.expand = run,
};
