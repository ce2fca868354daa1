/* writer.h - the threads that write batches in any order and commit them in batch order. */
#ifndef SL_PIPELINE_RUN_WRITER_H
#define SL_PIPELINE_RUN_WRITER_H

#include "pipeline/run/workers.h"

/* The body of a thread; ctx is the struct sl_run_workers. */
void *sl_writer_thread(void *ctx);

/*
 * Adds the batches that are committed and follow each other without a gap to the precision. If the
 * stop rule is met, or met is true already, the run ends after the last of them. Called with the
 * lock held.
 */
void sl_writer_check_stop_rule(struct sl_run_workers *run, bool met);

/* Removes files that were written and not committed, after all threads have ended. */
void sl_writer_remove_uncommitted(const struct sl_run_workers *run);

#endif
