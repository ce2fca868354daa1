/*
 * tallies.h - reads the tallies of the batches of a run and adds them up.
 *
 * Each batch has a file NAME_000000.bins with its counters: 64-bit little-endian words in the
 * layout of struct sl_grid_set (stages/selection/grid_rule.h). The file is committed before the
 * line of the manifest, which contains its size and checksum. A resumed run therefore adds up the
 * same files in the same order as an uninterrupted one.
 *
 * All are added as integers, so the sums do not depend on the batches. Means per particle and their
 * standard errors come from statistics.h, weighted if particles have weights.
 */
#ifndef SL_PIPELINE_RESULTS_TALLIES_H
#define SL_PIPELINE_RESULTS_TALLIES_H

#include "pipeline/results/statistics.h"
#include "primitives/base/arena.h"
#include "primitives/files/dirs.h"
#include "stages/batch/recipe.h"

#define SL_COUNTERS_SUFFIX ".bins"

/* Sums over all batches; the memory belongs to the plan. */
struct sl_tally_sums {
	uint64_t *count;                /* per counter, as precision and square */
	struct sl_precision *precision; /* of counts, weights or scores */
	sl_sum *square;                 /* of weights; NULL: particles have no weights */
	struct sl_batches *batches;     /* NULL: the run has no tallies */
	double *row;                    /* scratch for a row of counters */
};

/* What is known of each counter. The error of a score is that over batches. */
enum sl_tally_quantity {
	SL_TALLY_WEIGHT,
	SL_TALLY_SQUARE,
	SL_TALLY_MEAN,
	SL_TALLY_ERROR,
	SL_TALLY_ERROR_OVER_BATCHES
};

/* Cuts the arrays of h from the arena, or measures them; sets NULL when there are no tallies. */
void sl_tally_sums_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_tally_sums *h);

/*
 * Reads the counters of a batch into memory that the caller frees by sl_memory_give(SL_HOST).
 * SL_CHECK_FAILED when size or checksum differ from the line, or the counters do not add up to the
 * fates, steps and collisions of the line.
 */
enum sl_status sl_tallies_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest_line *line, uint64_t **sum);

/* Adds the counters of a batch of so many particles to h, which is all 0 before the first batch. */
void sl_tally_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_tally_sums *h);

/*
 * Sets h to the sums over the batches of all lines of m, in their order; add: adds them to h, which
 * has the sums of other batches.
 */
enum sl_status sl_tally_sums_add(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_tally_sums *h);
enum sl_status sl_tally_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_tally_sums *h);

/* The counts of a row: below, cells, above. */
const uint64_t *sl_tally_counts(
	const struct sl_recipe *r, const struct sl_tally_sums *h, uint32_t number, int fate);

/* A quantity of n counters of a row, from number first on: h->row, until the next call. */
const double *sl_tally_row(const struct sl_recipe *r, const struct sl_tally_sums *h,
	uint32_t number, int fate, uint32_t first, uint32_t n, enum sl_tally_quantity which);

/* The same of the cells of a row. */
const double *sl_tally_cells(const struct sl_recipe *r, const struct sl_tally_sums *h,
	uint32_t number, int fate, enum sl_tally_quantity which);

#endif
