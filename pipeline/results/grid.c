/* grid.c - see grid.h. */
#include "pipeline/results/grid.h"

#include <math.h>
#include <string.h>

/* The counters of the longest row. */
static uint32_t longest_row(const struct sl_grid_set *grids)
{
	uint32_t longest = 0;

	for (uint32_t k = 0; k < grids->n; k++)
		longest = grids->grid[k].cells > longest ? grids->grid[k].cells : longest;
	return longest + SL_GRID_OUTSIDE;
}

void sl_grid_sums_lay_out(
	struct sl_arena *a, const struct sl_grid_set *grids, struct sl_grid_sums *h)
{
	uint32_t n = grids->n_counters;

	*h = (struct sl_grid_sums){.count = NULL};
	if (grids->n == 0)
		return;
	h->count = (uint64_t *)sl_cut_items(a, n, sizeof(*h->count));
	if (grids->weighted)
		h->square = (double *)sl_cut_items(a, n, sizeof(*h->square));
	h->precision = (struct sl_precision *)sl_cut_items(a, n, sizeof(*h->precision));
	h->row = (double *)sl_cut_items(a, longest_row(grids), sizeof(*h->row));
}

void sl_grid_sums_clear(const struct sl_grid_set *grids, const struct sl_grid_sums *h)
{
	if (grids->n == 0)
		return;
	memset(h->count, 0, grids->n_counters * sizeof(*h->count));
	memset(h->precision, 0, grids->n_counters * sizeof(*h->precision));
	if (h->square)
		memset(h->square, 0, grids->n_counters * sizeof(*h->square));
}

/* The weight, or the score, that a counter of a grid of a batch stands for. */
static double value_of(
	const struct sl_recipe *r, const struct sl_grid_rule *g, const uint64_t *sum, uint32_t i)
{
	if (g->score != SL_SCORE_ENDS)
		return ldexp((double)sum[r->grids.n_counters + i], g->score_shift - 32);
	return r->grids.weighted ? sl_weight_of(r, sum[r->grids.n_counters + i]) : (double)sum[i];
}

void sl_grid_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_grid_sums *h)
{
	const struct sl_grid_set *grids = &r->grids;
	const uint64_t *square = sum + 2 * (uint64_t)grids->n_counters;
	const double unit = ldexp(1 / pow((double)grids->square_scale, 2), -32);

	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];

		for (uint32_t i = g->base; i < g->base + g->counters; i++) {
			h->count[i] += sum[i];
			sl_precision_take(&h->precision[i], value_of(r, g, sum, i), particles);
			if (h->square)
				h->square[i] += (double)square[i] * unit;
		}
	}
}

const double *sl_grid_row(const struct sl_grid_set *grids, const struct sl_grid_sums *h,
	uint32_t first, uint32_t n, enum sl_grid_quantity which)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sl_precision *p = &h->precision[first + i];

		if (which == SL_GRID_WEIGHT)
			h->row[i] = p->weight;
		else if (which == SL_GRID_SQUARE)
			h->row[i] = grids->weighted ? h->square[first + i]
			                            : (double)h->count[first + i];
		else if (which == SL_GRID_MEAN)
			h->row[i] = p->weight / (double)p->particles;
		else
			h->row[i] = sl_precision_error(p);
	}
	return h->row;
}
