/*
 * info_kinds.h - the printers of sluice info, one per kind of file, and the statistics they share.
 *
 * Each printer returns SL_BAD_INPUT, with the path in the message, for a file that is damaged or is
 * not of its kind. What it printed until then stays printed.
 */
#ifndef SL_PIPELINE_INFO_INFO_KINDS_H
#define SL_PIPELINE_INFO_INFO_KINDS_H

#include <stdint.h>
#include <stdio.h>

#include "primitives/base/status.h"
#include "primitives/files/dirs.h"

/* Prints axis, bins and, per fate, the particles below, in and above the bins of each histogram. */
enum sl_status sl_info_histograms(const char *path, FILE *out);

/* Prints the header, comments, blobs and statistics of any MCPL file. */
enum sl_status sl_info_mcpl(const char *path, FILE *out);

/* Prints name, state, batches, particles, fates and files of a run, from run.json and the manifest. */
enum sl_status sl_info_run(const struct sl_dir *dir, FILE *out);

/* Least, mean and largest of the values added; starts as {0}. */
struct sl_value_range {
	uint64_t n;
	double least, most, sum;
};
void sl_value_range_add(struct sl_value_range *r, double value);

/* Prints least, mean and largest in 44 characters; zeros if there are no values. */
void sl_value_range_print(const struct sl_value_range *r, FILE *out);

#endif
