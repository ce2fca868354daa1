/* info_histograms.h - what a file of histograms (NAME.tallies) contains. */
#ifndef SL_PIPELINE_INFO_INFO_HISTOGRAMS_H
#define SL_PIPELINE_INFO_INFO_HISTOGRAMS_H

#include "pipeline/text/json.h"
#include "primitives/base/status.h"

/*
 * Writes axis, bins and, per fate, the particles below, in and above the bins of each histogram.
 * SL_BAD_INPUT if the checksum or a part of the file is wrong.
 */
enum sl_status sl_info_histograms(const char *path, struct sl_json *j);

#endif
