/* info_run.h - what a run directory contains. */
#ifndef SL_PIPELINE_INFO_INFO_RUN_H
#define SL_PIPELINE_INFO_INFO_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "primitives/base/status.h"
#include "primitives/files/dirs.h"

/*
 * Prints name, state, batches, particles, fates and files of a run, from run.json and the manifest, then
 * the first head survivors and the statistics of the columns, from the files of all batches. dir is
 * open and need not be locked. SL_BAD_INPUT if no run can have written run.json, or if a file is
 * damaged; what precedes it is then printed.
 */
enum sl_status sl_info_run(const struct sl_dir *dir, uint64_t head, FILE *out);

#endif
