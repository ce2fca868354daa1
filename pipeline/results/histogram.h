/*
 * histogram.h - tallies by bins over the batches of a run: read back, added up, written.
 *
 * A batch's sums are a file beside its survivors', NAME_000000.bins: the words of histogram.h, 64 bits
 * each, least byte first. It is committed before the manifest's line, which has its size and
 * checksum; so a run that is gone on with adds up the same files in the same order as an unbroken
 * one.
 *
 * Of each counter the mean over all particles and its error are those of statistics.h: of the
 * weight, where particles differ in it.
 */
#ifndef SL_PIPELINE_RESULTS_HISTOGRAM_H
#define SL_PIPELINE_RESULTS_HISTOGRAM_H

#include "pipeline/results/statistics.h"
#include "primitives/base/arena.h"
#include "primitives/files/dirs.h"
#include "stages/batch/recipe.h"

#define SL_HISTOGRAM_SUFFIX ".bins"

/* Of all batches, in the memory of a plan. */
struct sl_histogram_sums {
	uint64_t *sum;                  /* the words of histogram.h */
	struct sl_precision *precision; /* of each counter */
};

/* Cuts or measures them; nothing where there are no tallies by bins. */
void sl_histogram_sums_lay_out(
	struct sl_arena *a, const struct sl_histogram_set *bins, struct sl_histogram_sums *h);

/*
 * Reads the sums of a batch: words to be given back with sl_memory_give(SL_HOST). SL_CHECK_FAILED
 * when they are not those that the line stands for, or do not add up to its fates.
 */
enum sl_status sl_histogram_read(const struct sl_histogram_set *bins, const struct sl_dir *dir,
	const struct sl_manifest_line *line, uint64_t **sum);

/* Adds up those of all lines. */
enum sl_status sl_histogram_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_histogram_sums *h);

/* The counters of one fate in a tally: below, the bins, above. */
struct sl_histogram_row {
	const uint64_t *count;
	double weight[SL_HISTOGRAM_MOST + SL_HISTOGRAM_OUTSIDE]; /* of the particles */
	double mean[SL_HISTOGRAM_MOST + SL_HISTOGRAM_OUTSIDE];   /* a particle of the run */
	double error[SL_HISTOGRAM_MOST + SL_HISTOGRAM_OUTSIDE]; /* of the mean; NaN for one batch */
};

/* Fills the row of a fate that histogram number tally counts; the sums must have been read. */
void sl_histogram_row(const struct sl_histogram_set *bins, const struct sl_histogram_sums *h,
	uint32_t tally, enum sl_fate fate, struct sl_histogram_row *row);

#endif
