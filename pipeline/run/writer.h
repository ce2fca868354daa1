/* writer.h - the threads that write batches in parallel and commit them in batch order. */
#ifndef SL_PIPELINE_RUN_WRITER_H
#define SL_PIPELINE_RUN_WRITER_H

#include "pipeline/run/workers.h"

/*
 * The body of a writer; ctx is the struct sl_run_workers. Ends when all batches are committed, when
 * the stop rule is met or when a thread has failed. Returns NULL.
 */
void *sl_writer_thread(void *ctx);

/*
 * Adds batches of earlier sessions to the sums of the stop rule, as long as they follow without a gap. If the
 * stop rule is met by them, or met is true already, the run ends after the last batch of
 * these sums. Called with the lock held, or before the threads start.
 */
void sl_writer_check_stop_rule(struct sl_run_workers *run, bool met);

/* Removes files that were written and not committed. Called after all threads have ended. */
void sl_writer_remove_uncommitted(const struct sl_run_workers *run);

#endif
