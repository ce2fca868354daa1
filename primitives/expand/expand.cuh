/*
 * expand/expand.cuh - what the backends that write the indices first share: a binary search for one
 * thread, and the copies of the columns by the indices, one launch per column.
 */
#ifndef SL_PRIMITIVES_EXPAND_EXPAND_CUH
#define SL_PRIMITIVES_EXPAND_EXPAND_CUH

#include "indices.h"
#include "primitives/compact/items.h"
#include "primitives/kernel/item_loops.cuh"

/* The number of the n ascending ends that are at most slot: the index of the run of that slot. */
template <class E>
static __device__ __forceinline__ uint32_t ends_up_to(const E *end, uint32_t n, uint64_t slot)
{
	uint32_t first = 0;

	while (n > 0) {
		uint32_t half = n / 2;

		if (end[first + half] <= slot) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first;
}

/*
 * to[j] = from[index[j]]. Ends that do not ascend may give indices past the last run; these read
 * its item.
 */
template <class T>
static __global__ void gather_kernel(
	const uint32_t *index, uint32_t last, const T *from, T *to, uint64_t n_out)
{
	sl_for_items(n_out, [=](uint64_t j) { to[j] = from[index[j] < last ? index[j] : last]; });
}

/* Queues the copies of all columns. */
static inline enum sl_status gather_columns(
	const struct sl_exec *x, const struct sl_expand_job *job, const uint32_t *index)
{
	for (uint32_t k = 0; k < job->n_columns; k++) {
		const struct sl_compact_column *c = &job->column[k];

		switch (c->bytes) {
#define X(item_bytes, type)                                                                        \
	case item_bytes:                                                                           \
		SL_TRY(SL_LAUNCH(gather_kernel<type>, sl_grid(job->n_out, 256), 256, 0, x->stream, \
			index, job->n - 1, (const type *)c->from, (type *)c->to, job->n_out));     \
		break;
			SL_COMPACT_ITEMS(X)
#undef X
		}
	}
	return SL_OK;
}

#endif
