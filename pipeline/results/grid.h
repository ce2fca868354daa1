/*
 * grid.h - adds up the grids of the batches of a run.
 *
 * The counters of a batch are in its histogram file (histogram.h). Counts are added as integers, weights
 * and squares as numbers in the order of the batches. The mean per particle and its standard error
 * come from statistics.h, weighted if particles have weights.
 */
#ifndef SL_PIPELINE_RESULTS_GRID_H
#define SL_PIPELINE_RESULTS_GRID_H

#include "pipeline/results/statistics.h"
#include "primitives/base/arena.h"
#include "stages/batch/recipe.h"

/* Sums over all batches; the memory belongs to the plan. */
struct sl_grid_sums {
	uint64_t *count;                /* per counter, as the rest */
	double *square;                 /* of weights; NULL: particles have no weights */
	struct sl_precision *precision; /* with the sums of weight */
	double *row;                    /* scratch for the counters of one fate */
};

/* What is known of each counter. */
enum sl_grid_quantity { SL_GRID_WEIGHT, SL_GRID_SQUARE, SL_GRID_MEAN, SL_GRID_ERROR };

/* Cuts the arrays of h from the arena, or measures them; sets NULL when there are no grids. */
void sl_grid_sums_lay_out(
	struct sl_arena *a, const struct sl_grid_set *grids, struct sl_grid_sums *h);

/* Sets the sums to 0. */
void sl_grid_sums_clear(const struct sl_grid_set *grids, const struct sl_grid_sums *h);

/* Adds the counters of the grids of a batch of so many particles. */
void sl_grid_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_grid_sums *h);

/*
 * Returns a quantity of the counters from first on: h->row, until the next call. Without weights the
 * weight and its square are the count.
 */
const double *sl_grid_row(const struct sl_grid_set *grids, const struct sl_grid_sums *h,
	uint32_t first, uint32_t n, enum sl_grid_quantity which);

#endif
