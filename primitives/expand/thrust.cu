/*
 * expand/thrust.cu - expansion with Thrust: upper_bound of each slot among the ends of the runs, as
 * its documentation shows, and gather for the columns. CUDA devices only.
 *
 * The vectorised upper_bound returns the end of its output, which the host knows, so it does not
 * wait for the device.
 */
#include <thrust/binary_search.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>

#include "indices.h"
#include "primitives/compact/items.h"
#include "primitives/kernel/thrust_arena.cuh"

/* A binary search needs no temporary memory; the margin is for other versions. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_expand_cut_indices(&a, shape->n_out, shape->n_columns, nullptr);
	sl_cut(&a, (size_t)64 << 10);
	return a.used;
}

/* Selects the item type of the column. */
template <class On>
static void gather_column(const On &on, const uint32_t *index, uint32_t n_out,
	const struct sl_compact_column *c)
{
	switch (c->bytes) {
#define X(item_bytes, type)                                                                     \
	case item_bytes:                                                                        \
		thrust::gather(                                                                 \
			on, index, index + n_out, (const type *)c->from, (type *)c->to);        \
		break;
		SL_COMPACT_ITEMS(X)
#undef X
	}
}

template <class E> static enum sl_status expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *index = sl_expand_cut_indices(&a, job->n_out, job->n_columns, job->out);
	const E *end = (const E *)job->runs;
	thrust::counting_iterator<E> slot(0);

	return sl_thrust("expand/thrust", x->stream, &a, [&](const auto &on) {
		thrust::upper_bound(on, end, end + (job->n - 1), slot, slot + job->n_out, index);
		for (uint32_t k = 0; k < job->n_columns; k++)
			gather_column(on, index, job->n_out, &job->column[k]);
	});
}

static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	return job->type == SL_U32 ? expand<uint32_t>(x, job) : expand<uint64_t>(x, job);
}

const struct sl_backend sl_expand_thrust = {
	.name = "thrust",
	.primitive = SL_EXPAND,
	.space = SL_DEVICE,
	.help = "upper_bound of Thrust for all slots, gather for the columns",
	.scratch = scratch,
	.expand = run,
};
