/*
 * histogram.h - reads the histograms of the batches of a run and adds them up.
 *
 * Each batch has a file NAME_000000.bins with its counters: 64-bit little-endian words in the
 * layout of stages/selection/histogram.h, then those of the grids (stages/selection/grid.h). The
 * file is committed before the line of the manifest, which contains its size and checksum. A
 * resumed run therefore adds up the same files in the same order as an uninterrupted one.
 */
#ifndef SL_PIPELINE_RESULTS_HISTOGRAM_H
#define SL_PIPELINE_RESULTS_HISTOGRAM_H

#include "pipeline/results/grid.h"
#include "pipeline/results/statistics.h"
#include "primitives/base/arena.h"
#include "primitives/files/dirs.h"
#include "stages/batch/recipe.h"

#define SL_HISTOGRAM_SUFFIX ".bins"

/* Sums over all batches; the memory belongs to the plan. */
struct sl_histogram_sums {
	struct sl_counter_sums bins, grids;
};

/* Cuts the arrays of h from the arena, or measures them; sets NULL when there are no histograms. */
void sl_histogram_sums_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, struct sl_histogram_sums *h);

/*
 * Reads the counters of a batch into memory that the caller frees by sl_memory_give(SL_HOST).
 * SL_CHECK_FAILED when size or checksum differ from the line, or the counters do not add up to the
 * fates of the line.
 */
enum sl_status sl_histogram_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest_line *line, uint64_t **sum);

/* Adds the counters of a batch of so many particles to h, which is all 0 before the first batch. */
void sl_histogram_sums_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_histogram_sums *h);

/*
 * Sets h to the sums over the batches of all lines of m, in their order; add: adds them to h, which
 * has the sums of other batches.
 */
enum sl_status sl_histogram_sums_add(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_histogram_sums *h);
enum sl_status sl_histogram_sums_read(const struct sl_recipe *r, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_histogram_sums *h);

#endif
