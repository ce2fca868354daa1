/*
 * shared_directory.h - opens the output directory of a run under MPI on all ranks.
 *
 * Rank 0 opens and locks it as for one process; the others then write their .part files in it.
 */
#ifndef SL_PIPELINE_OUTPUT_SHARED_DIRECTORY_H
#define SL_PIPELINE_OUTPUT_SHARED_DIRECTORY_H

#include "pipeline/output/run_directory.h"

/*
 * sl_output_open() on rank 0, which also fills *done; the other ranks open the same directory, with
 * nothing in *done. All ranks return the same status. SL_USAGE if a rank sees another directory of that
 * name, because their file systems differ. ranks may be NULL.
 */
enum sl_status sl_output_open_shared(struct sl_workspace *w, struct sl_ranks *ranks,
	enum sl_start start, struct sl_dir *dir, struct sl_manifest *done);

#endif
