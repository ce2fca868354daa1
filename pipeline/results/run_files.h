/*
 * run_files.h - lists the survivor files of a run, for the model list.
 */
#ifndef SL_PIPELINE_RESULTS_RUN_FILES_H
#define SL_PIPELINE_RESULTS_RUN_FILES_H

#include "stages/inputs/inputs.h"

/*
 * Lists the files of the committed batches of the run in a directory (sl_run_lister). SL_USAGE if
 * it has none.
 */
enum sl_status sl_run_files_list(const char *folder, struct sl_run_files *files);

/* The state of the run in a directory, as its run.json has it ("done"); "" if it has none. */
enum { SL_RUN_STATE_BYTES = 16 };
enum sl_status sl_run_files_state(const char *folder, char state[SL_RUN_STATE_BYTES]);

#endif
