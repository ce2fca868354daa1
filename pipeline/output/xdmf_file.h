/*
 * xdmf_file.h - NAME.xdmf, with which ParaView and VisIt read the openPMD files of a run (xdmf.h).
 *
 * It only refers to the files of the batches, so it is replaced after each session, finished or
 * not.
 */
#ifndef SL_PIPELINE_OUTPUT_XDMF_FILE_H
#define SL_PIPELINE_OUTPUT_XDMF_FILE_H

#include <stdio.h>

#include "pipeline/plan/plan.h"
#include "pipeline/results/manifest.h"

/*
 * Sets name, of SL_FILE_NAME_BYTES. False if the run has no such file: only openPMD files have one,
 * and only if their columns can be shown as points.
 */
bool sl_xdmf_file_name(const struct sl_plan *plan, char *name);

/* Writes its text for the batches of the manifest to out. */
void sl_xdmf_file_write(const struct sl_plan *plan, const struct sl_manifest *m, FILE *out);

/* Commits the file in dir, if the run has one. */
enum sl_status sl_xdmf_file_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m);

#endif
