/* compute.h - the threads that compute batches and pack them. */
#ifndef SL_PIPELINE_RUN_COMPUTE_H
#define SL_PIPELINE_RUN_COMPUTE_H

#include "pipeline/run/workers.h"

/*
 * The body of a compute thread; ctx is the struct sl_run_workers. Ends when no batch is left to
 * start or the run stops; a failure is recorded with sl_run_workers_fail(). Returns NULL.
 */
void *sl_compute_thread(void *ctx);

#endif
