/*
 * histogram_file.h - the histograms of a run as a file (NAME.tallies, HDF5) and in run.json.
 *
 * Input: the sums over all batches of the workspace, filled by sl_histogram_sums_read().
 */
#ifndef SL_PIPELINE_REPORT_TALLIES_HISTOGRAM_FILE_H
#define SL_PIPELINE_REPORT_TALLIES_HISTOGRAM_FILE_H

#include "pipeline/run/run.h"
#include "pipeline/text/json.h"

/* Name of the dataset with the seeds and counts of merged runs. */
#define SL_HISTOGRAMS_MERGED "sluiceMerged"

/* Writes the member "histograms" of run.json. */
void sl_histogram_sums_json(struct sl_json *j, const struct sl_workspace *w);

/*
 * Makes the HDF5 file in memory; after success the caller frees *image by sl_memory_give(SL_HOST).
 */
enum sl_status sl_histogram_sums_file(
	const struct sl_workspace *w, const char *name, void **image, size_t *bytes);

#endif
