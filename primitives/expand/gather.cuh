/*
 * expand/gather.cuh - copies the columns of an expansion by its indices, one launch per column, for
 * the backends that write the indices first.
 */
#ifndef SL_PRIMITIVES_EXPAND_GATHER_CUH
#define SL_PRIMITIVES_EXPAND_GATHER_CUH

#include "indices.h"
#include "primitives/compact/items.h"
#include "primitives/kernel/item_loops.cuh"

/*
 * to[j] = from[index[j]]. Ends that do not ascend may give indices past the last run; these read
 * its item.
 */
template <class T>
static __global__ void gather_kernel(
	const uint32_t *index, uint32_t last, const T *from, T *to, uint64_t n_out)
{
	sl_for_items(n_out,
		[=](uint64_t j) { to[j] = from[index[j] < last ? index[j] : last]; });
}

/* Queues the copies of all columns. */
static inline enum sl_status gather_columns(
	const struct sl_exec *x, const struct sl_expand_job *job, const uint32_t *index)
{
	for (uint32_t k = 0; k < job->n_columns; k++) {
		const struct sl_compact_column *c = &job->column[k];

		switch (c->bytes) {
#define X(item_bytes, type)                                                                    \
	case item_bytes:                                                                       \
		SL_TRY(SL_LAUNCH(gather_kernel<type>, sl_grid(job->n_out, 256), 256, 0,        \
			x->stream, index, job->n - 1, (const type *)c->from, (type *)c->to,    \
			job->n_out));                                                          \
		break;
			SL_COMPACT_ITEMS(X)
#undef X
		}
	}
	return SL_OK;
}

/* Scratch for the indices of jobs that have columns. */
static inline size_t scratch_of_indices(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	sl_expand_cut_indices(&a, shape->n_out, shape->n_columns, nullptr);
	return a.used;
}

#endif
