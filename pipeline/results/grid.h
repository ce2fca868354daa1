/*
 * grid.h - adds up the counters of histograms and grids over the batches of a run.
 *
 * The counters of a batch are in its histogram file (histogram.h). All are added as integers, so
 * the sums do not depend on the batches. Means per particle and their standard errors come from
 * statistics.h, weighted if particles have weights.
 */
#ifndef SL_PIPELINE_RESULTS_GRID_H
#define SL_PIPELINE_RESULTS_GRID_H

#include "pipeline/results/statistics.h"
#include "primitives/base/arena.h"
#include "stages/batch/recipe.h"

/* Sums over all batches; the memory belongs to the plan. */
struct sl_counter_sums {
	uint64_t *count;                /* per counter, as precision and square */
	struct sl_precision *precision; /* of counts, weights or scores */
	sl_sum *square;                 /* of weights; NULL: particles have no weights */
	struct sl_batches *batches;     /* one, for histograms and grids */
	double *row;                    /* scratch for a row of counters */
};

/* Counters of a batch. */
struct sl_batch_sums {
	const uint64_t *count;
	const uint64_t *sum;    /* of weights or scores; NULL: weights are 1 */
	const uint64_t *square; /* of weights; NULL: of scores, or weights are 1 */
	bool is_signed;         /* weights of lists can be negative */
};

/* What is known of each counter. The error of a score is that over batches. */
enum sl_counter_quantity {
	SL_COUNTER_WEIGHT,
	SL_COUNTER_SQUARE,
	SL_COUNTER_MEAN,
	SL_COUNTER_ERROR,
	SL_COUNTER_ERROR_OVER_BATCHES
};

/* What 1 in a sum, and in a sum of squares, stands for. square is 0 for scores. */
struct sl_counter_units {
	double sum, square;
};

/* Cuts the arrays of n counters, the longest row of which has row; or measures them. */
void sl_counter_sums_lay_out(struct sl_arena *a, uint32_t n, uint32_t row, bool weighted,
	struct sl_batches *batches, struct sl_counter_sums *h);

/* Sets the sums of n counters to 0. */
void sl_counter_sums_clear(const struct sl_counter_sums *h, uint32_t n);

/*
 * Adds n counters of a batch of so many particles to those from first on. The caller counts the
 * batch.
 */
void sl_counter_sums_add(const struct sl_counter_sums *h, uint32_t first, uint32_t n,
	const struct sl_batch_sums *batch, uint64_t particles);

/* Those of counters of particles at their ends. */
struct sl_counter_units sl_ends_units(const struct sl_recipe *r);

/* A quantity of n counters from first on: h->row, until the next call. */
const double *sl_counter_row(const struct sl_counter_sums *h, struct sl_counter_units unit,
	uint32_t first, uint32_t n, enum sl_counter_quantity which);

/* The counters of a row of the longest grid. */
uint32_t sl_grid_row_most(const struct sl_grid_set *grids);

/* Adds the grids of a batch of so many particles. */
void sl_grid_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_counter_sums *h);

/* A quantity of n counters of a grid, as sl_counter_row(). */
const double *sl_grid_row(const struct sl_recipe *r, const struct sl_counter_sums *h, uint32_t grid,
	uint32_t first, uint32_t n, enum sl_counter_quantity which);

#endif
