/*
 * shared_directory.h - opens the output directory of a run, under MPI on all ranks.
 *
 * Rank 0 opens and locks it as for one process; the others then write their .part files in it.
 */
#ifndef SL_PIPELINE_OUTPUT_SHARED_DIRECTORY_H
#define SL_PIPELINE_OUTPUT_SHARED_DIRECTORY_H

#include "pipeline/output/run_directory.h"

/*
 * Opens and locks the plan's directory, and prepares it as start says. *done gets the batches that
 * need not be computed. The caller closes *dir and frees *done, also after a failure.
 * SL_OUTPUT_IN_USE if the directory has other contents than start expects. ranks: NULL, or all
 * ranks call it and return the same status; ranks other than 0 get nothing in *done. SL_USAGE if
 * one of them sees another directory of that name, because their file systems differ; then no file
 * of a run is changed.
 */
enum sl_status sl_output_open(struct sl_workspace *w, struct sl_ranks *ranks, enum sl_start start,
	struct sl_dir *dir, struct sl_manifest *done);

#endif
