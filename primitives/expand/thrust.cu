/*
 * expand/thrust.cu - expansion with Thrust: upper_bound of each slot among the ends of the runs, as
 * its documentation shows; then the columns, as in naive.cu. CUDA devices only.
 *
 * The vectorised upper_bound returns the end of its output, which the host knows, so it does not
 * wait for the device.
 */
#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>

#include "expand.cuh"
#include "primitives/kernel/thrust_arena.cuh"

/* A binary search needs no temporary memory; the margin is for other versions. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_expand_cut_indices(&a, shape->n_out, shape->n_columns, nullptr);
	sl_cut(&a, (size_t)64 << 10);
	return a.used;
}

template <class E> static enum sl_status expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *index = sl_expand_cut_indices(&a, job->n_out, job->n_columns, job->out);
	const E *end = (const E *)job->runs;
	thrust::counting_iterator<E> slot(0);

	SL_TRY(sl_thrust("expand/thrust", x->stream, &a, [&](const auto &on) {
		thrust::upper_bound(on, end, end + (job->n - 1), slot, slot + job->n_out, index);
	}));
	return gather_columns(x, job, index);
}

static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	return job->type == SL_U32 ? expand<uint32_t>(x, job) : expand<uint64_t>(x, job);
}

const struct sl_backend sl_expand_thrust = {
	.name = "thrust",
	.primitive = SL_EXPAND,
	.space = SL_DEVICE,
	.help = "upper_bound of Thrust for all slots",
	.scratch = scratch,
	.expand = run,
};
