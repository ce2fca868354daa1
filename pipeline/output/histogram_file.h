/*
 * histogram_file.h - the histograms of a run as a file (NAME.tallies, HDF5) and in run.json.
 *
 * Input: the sums over all batches in plan->histograms, filled by sl_histogram_sums_read().
 */
#ifndef SL_PIPELINE_OUTPUT_HISTOGRAM_FILE_H
#define SL_PIPELINE_OUTPUT_HISTOGRAM_FILE_H

#include "pipeline/plan/plan.h"
#include "pipeline/text/json.h"

/* Writes the member "histograms" of run.json. */
void sl_histogram_sums_json(struct sl_json *j, const struct sl_plan *plan);

/* Writes the name of the HDF5 file; false when the run makes none. */
bool sl_histogram_sums_name(const struct sl_plan *plan, char name[SL_FILE_NAME_BYTES]);

/* Makes the HDF5 file in memory; after success the caller frees *image by sl_memory_give(SL_HOST). */
enum sl_status sl_histogram_sums_file(
	const struct sl_plan *plan, const char *name, void **image, size_t *bytes);

/* Makes the HDF5 file and commits it to dir. */
enum sl_status sl_histogram_sums_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const char *name);

#endif
