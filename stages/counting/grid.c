/* grid.c - counts the particles of a batch in the grids, on the host. */
#include "stages/counting/grid.h"

#include "stages/counting/score_word.h"

/* Adds particle i, of a fate that exists, to a grid. */
static void count(const struct sl_grid_set *grids, uint32_t grid, const struct sl_columns *c,
	uint32_t i, float weight_scale, uint64_t *sum)
{
	uint32_t at = sl_grid_find(&grids->grid[grid], grids->edge, c, i, c->fate[i]);

	if (at == SL_NO_GRID_COUNTER)
		return;
	sum[at]++;
	if (!grids->weighted)
		return;
	sum[grids->n_counters + at] += sl_fixed_weight(c->weight[i] * weight_scale);
	sum[2 * (uint64_t)grids->n_counters + at] +=
		sl_fixed_square(c->weight[i] * grids->square_scale);
}

/*
 * A fate that does not exist, after a memory error, is not counted, so that the sums do not close.
 */
void sl_grids_count(const struct sl_grid_set *grids, float weight_scale, const struct sl_batch *b,
	uint64_t *sum)
{
	for (uint32_t k = 0; k < grids->n; k++) {
		if (grids->grid[k].score != SL_SCORE_ENDS)
			continue;
		for (uint32_t i = 0; i < b->n; i++)
			if (b->columns.fate[i] < SL_FATE_COUNT)
				count(grids, k, &b->columns, i, weight_scale, sum);
	}
}

void sl_grids_separate(const struct sl_grid_set *grids, uint64_t *sum)
{
	uint64_t *score = sum + grids->n_counters;

	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];

		for (uint32_t i = g->base; sl_scores_collisions(g) && i < g->base + g->counters;
			i++)
			sl_score_separate(&sum[i], &score[i]);
	}
}
