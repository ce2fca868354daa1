/* score.c - adds the collisions of histories to the scores, on the host. */
#include "stages/counting/score.h"

#include "stages/batch/recipe.h"
#include "stages/models/slab_score.h"

bool sl_has_scores(const struct sl_recipe *r)
{
	return r->grids.scored;
}

void sl_score_collision(
	const struct sl_recipe *r, float weight, struct sl_particle *p, uint64_t *bins)
{
	const struct sl_grid_set *grids = &r->grids;
	const struct sl_columns columns = sl_columns_of(p);
	uint64_t *sum = sl_grid_counters_of(r, bins);
	struct sl_collision e;

	sl_slab_collision((const struct sl_slab *)(const void *)r->rules.bytes, weight, p, &e);
	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];
		uint32_t at;

		if (g->score == SL_SCORE_ENDS)
			continue;
		at = g->base + sl_grid_cell(g, grids->edge, &columns, 0);
		sum[at]++;
		sum[grids->n_counters + at] += sl_score_fixed(g, e.deposit, e.fluence);
	}
}
