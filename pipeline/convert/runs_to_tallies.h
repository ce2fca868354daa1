/* runs_to_tallies.h - adds up the histograms of runs and writes them as one file. */
#ifndef SL_PIPELINE_CONVERT_RUNS_TO_TALLIES_H
#define SL_PIPELINE_CONVERT_RUNS_TO_TALLIES_H

#include "pipeline/convert/runs.h"

#define SL_TALLIES_SUFFIX ".tallies"

/*
 * Writes the file of histograms of one run, or of several that are merged. SL_USAGE if the inputs
 * are not the directories of such runs, or if the runs have no histograms.
 */
enum sl_status sl_runs_to_tallies(struct sl_conversion *c, const struct sl_runs *runs);

#endif
