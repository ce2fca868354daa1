/* grid.c - see grid.h. */
#include "pipeline/results/grid.h"

#include <math.h>
#include <string.h>

void sl_counter_sums_lay_out(struct sl_arena *a, uint32_t n, uint32_t row, bool weighted,
	struct sl_batches *batches, struct sl_counter_sums *h)
{
	*h = (struct sl_counter_sums){.batches = batches};
	if (n == 0)
		return;
	h->count = (uint64_t *)sl_cut_items(a, n, sizeof(*h->count));
	if (weighted)
		h->square = (sl_sum *)sl_cut_items(a, n, sizeof(*h->square));
	h->precision = (struct sl_precision *)sl_cut_items(a, n, sizeof(*h->precision));
	h->row = (double *)sl_cut_items(a, row, sizeof(*h->row));
}

void sl_counter_sums_clear(const struct sl_counter_sums *h, uint32_t n)
{
	if (n == 0)
		return;
	memset(h->count, 0, n * sizeof(*h->count));
	memset(h->precision, 0, n * sizeof(*h->precision));
	if (h->square)
		memset(h->square, 0, n * sizeof(*h->square));
}

void sl_counter_sums_add(const struct sl_counter_sums *h, uint32_t first, uint32_t n,
	const struct sl_batch_sums *batch, uint64_t particles)
{
	const uint64_t *sum = batch->sum ? batch->sum : batch->count;

	for (uint32_t i = 0; i < n; i++) {
		h->count[first + i] += batch->count[i];
		sl_precision_add(&h->precision[first + i], *h->batches, particles,
			batch->is_signed ? (sl_sum)(int64_t)sum[i] : (sl_sum)sum[i]);
		if (batch->square)
			h->square[first + i] += batch->square[i];
	}
}

struct sl_counter_units sl_ends_units(const struct sl_recipe *r)
{
	if (!sl_sums_weights(r))
		return (struct sl_counter_units){1, 1};
	return (struct sl_counter_units){sl_weight_of(r, 1), sl_square_unit(r)};
}

const double *sl_counter_row(const struct sl_counter_sums *h, struct sl_counter_units unit,
	uint32_t first, uint32_t n, enum sl_counter_quantity which)
{
	const uint64_t particles = h->batches->particles;

	for (uint32_t i = 0; i < n; i++) {
		const struct sl_precision *p = &h->precision[first + i];
		double sum = (double)p->sum * unit.sum, mean = sum / (double)particles;
		double square =
			h->square ? (double)h->square[first + i] * unit.square : (double)p->sum;

		if (which == SL_COUNTER_WEIGHT)
			h->row[i] = sum;
		else if (which == SL_COUNTER_SQUARE)
			h->row[i] = square;
		else if (which == SL_COUNTER_MEAN)
			h->row[i] = mean;
		else if (which == SL_COUNTER_ERROR && unit.square > 0)
			h->row[i] = sl_error_of_mean(mean, square / (double)particles, particles);
		else
			h->row[i] = sl_precision_error(p, *h->batches) * unit.sum;
	}
	return h->row;
}

/* --- grids ------------------------------------------------------------------------------------ */

uint32_t sl_grid_row_most(const struct sl_grid_set *grids)
{
	uint32_t longest = 0;

	for (uint32_t k = 0; k < grids->n; k++)
		longest = grids->grid[k].cells > longest ? grids->grid[k].cells : longest;
	return longest + SL_GRID_OUTSIDE;
}

void sl_grid_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_counter_sums *h)
{
	const struct sl_grid_set *grids = &r->grids;

	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];
		const bool score = g->score != SL_SCORE_ENDS, weighted = grids->weighted && !score;
		const uint64_t *count = sum + g->base;
		const uint64_t *second = count + grids->n_counters;
		const struct sl_batch_sums batch = {count, score || weighted ? second : NULL,
			weighted ? second + grids->n_counters : NULL, r->inputs != NULL};

		sl_counter_sums_add(h, g->base, g->counters, &batch, particles);
	}
}

const double *sl_grid_row(const struct sl_recipe *r, const struct sl_counter_sums *h, uint32_t grid,
	uint32_t first, uint32_t n, enum sl_counter_quantity which)
{
	const struct sl_grid_rule *g = &r->grids.grid[grid];
	struct sl_counter_units unit = sl_ends_units(r);

	if (g->score != SL_SCORE_ENDS)
		unit = (struct sl_counter_units){ldexp(1, g->score_shift - 32), 0};
	return sl_counter_row(h, unit, first, n, which);
}
