/* loops.c - see loops.h. The loops themselves are compiled without recipe.h. */
#include "stages/batch/loops.h"

#include "stages/batch/recipe.h"

bool sl_is_cancelled(const struct sl_recipe *r)
{
	return r->cancel && atomic_load_explicit(r->cancel, memory_order_relaxed);
}

bool sl_has_scores(const struct sl_recipe *r)
{
	return r->grids.scored;
}

bool sl_has_flight_scores(const struct sl_recipe *r)
{
	return r->grids.flights;
}
