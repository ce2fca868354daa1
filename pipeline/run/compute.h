/* compute.h - the threads that compute batches and compress them. */
#ifndef SL_PIPELINE_RUN_COMPUTE_H
#define SL_PIPELINE_RUN_COMPUTE_H

#include "pipeline/run/workers.h"

/* The body of a thread; ctx is the struct sl_run_workers. */
void *sl_compute_thread(void *ctx);

#endif
