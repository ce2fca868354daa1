/* expand/indices.h - where the backends that gather columns in a second step keep the indices. */
#ifndef SL_PRIMITIVES_EXPAND_INDICES_H
#define SL_PRIMITIVES_EXPAND_INDICES_H

#include "primitives/primitives.h"

/*
 * out, or scratch if the job wants columns alone. The scratch is cut in both cases, because a shape
 * does not say which.
 */
static inline uint32_t *sl_expand_cut_indices(
	struct sl_arena *a, uint32_t n_out, uint32_t n_columns, uint32_t *out)
{
	uint32_t *cut = n_columns > 0 ? (uint32_t *)sl_cut_items(a, n_out, sizeof(*cut)) : NULL;

	return out ? out : cut;
}

/* Scratch for the indices of jobs that have columns. */
static inline size_t sl_expand_scratch_of_indices(const struct sl_shape *shape)
{
	struct sl_arena a = {NULL, 0, 0};

	(void)sl_expand_cut_indices(&a, shape->n_out, shape->n_columns, NULL);
	return a.used;
}

#endif
