/* loops.c - see loops.h. The loops themselves are compiled without recipe.h. */
#include "stages/batch/loops.h"

#include "stages/batch/recipe.h"

bool sl_is_cancelled(const struct sl_recipe *r)
{
	return r->cancel && atomic_load_explicit(r->cancel, memory_order_relaxed);
}

const struct sl_grid_set *sl_loop_grids(const struct sl_recipe *r)
{
	return &r->grids;
}

uint64_t *sl_loop_grid_counters(const struct sl_recipe *r, uint64_t *bins)
{
	return sl_grid_counters_of(r, bins);
}
