/*
 * batch_client.h - a rank other than 0 of a run under MPI: gets batches from rank 0 and has them
 * committed.
 *
 * batch_server.h describes the messages. A slot whose files are written is in state COMMITTING
 * until rank 0 has committed the batch. Functions are called by the main thread unless stated
 * otherwise.
 */
#ifndef SL_PIPELINE_RUN_BATCH_CLIENT_H
#define SL_PIPELINE_RUN_BATCH_CLIENT_H

#include "pipeline/run/workers.h"

/* Allocates the client of run; closed by sl_batch_client_close(), also after a failure. */
enum sl_status sl_batch_client_open(struct sl_run_workers *run, struct sl_ranks *ranks);
void sl_batch_client_close(struct sl_run_workers *run);

/*
 * Handles all messages that have arrived, and sends what is due. stop: sl_control.stop. The lock is
 * held.
 */
void sl_batch_client_exchange(struct sl_run_workers *run, int stop);

/*
 * Is everything committed that this rank has computed, or was the run cancelled? The lock is held.
 */
bool sl_batch_client_is_over(const struct sl_run_workers *run);

/*
 * Has rank 0 given a batch that is not started; can it give further ones? Both, and the next
 * function, are called by any thread with the lock held.
 */
bool sl_batch_client_has_next(const struct sl_run_workers *run);
bool sl_batch_client_may_get_more(const struct sl_run_workers *run);

/* Takes the next of these batches. */
uint64_t sl_batch_client_take(struct sl_run_workers *run);

/*
 * Sends the last message: the measurements of this rank. Called after the threads have ended and
 * the uncommitted files are removed.
 */
void sl_batch_client_end(struct sl_run_workers *run);

#endif
