/*
 * batch_server.h - rank 0 of a run under MPI gives batches to the other ranks and commits what they
 * wrote.
 *
 * All ranks draw batches from one counter, run->next of rank 0. Another rank (batch_client.h) asks
 * for a batch for each idle thread, and for one more. It computes the batch, writes its files as
 * NAME.part in the common directory, and sends the line of the manifest. Rank 0 commits the batches
 * of all ranks in order: the server lists those of other ranks, with the same states as the slots
 * of rank 0. So the manifest, the stop rule and the bytes are those of one process.
 *
 *	other rank      WANTS 1 ->                    rank 0
 *	                        <- BATCH 17
 *	                WRITTEN 17, line ->
 *	                        <- COMMITTED 17
 *	                        <- NO_MORE            nothing is left to start
 *	                        <- CANCEL             the run failed, met its stop rule, or is out of time
 *	                STOPS ->                      a signal has reached this rank
 *	                FAILED, message ->            this rank has failed
 *	                ENDED, session ->             its threads have ended, uncommitted files are removed
 *
 * Each rank sends ALIVE in intervals. Rank 0 and another rank that hear nothing of each other for
 * some seconds end the run with SL_PEER_LOST: MPI itself may never report that a process has died.
 *
 * Unless stated otherwise, functions are called by the main thread, the only one that uses MPI, and
 * with the lock of the run held while there are other threads.
 */
#ifndef SL_PIPELINE_RUN_BATCH_SERVER_H
#define SL_PIPELINE_RUN_BATCH_SERVER_H

#include "pipeline/ranks/ranks.h"
#include "pipeline/run/workers.h"

enum sl_rank_message_kind {
	SL_RANK_WANTS,     /* to rank 0; number: batches */
	SL_RANK_WRITTEN,   /* number: the batch; payload: its line */
	SL_RANK_STOPS,     /* number: the value of sl_control.stop */
	SL_RANK_FAILED,    /* number: the status; payload: the message, NUL-terminated */
	SL_RANK_ENDED,     /* payload: struct sl_session */
	SL_RANK_BATCH,     /* from rank 0; number: the batch */
	SL_RANK_COMMITTED, /* number: the batch */
	SL_RANK_NO_MORE,
	SL_RANK_CANCEL, /* number: 1 if a rank was lost, so that no collective operation follows */
	SL_RANK_ALIVE   /* either way */
};

/*
 * Times in nanoseconds: between two messages ALIVE, and after which a rank that sent none is lost.
 */
#define SL_RANK_ALIVE_NS UINT64_C(500000000)
#define SL_RANK_LOST_NS  UINT64_C(6000000000)

/*
 * The time for which this process was paused since the last call, or 0: a batch system can suspend
 * all ranks of a job and continue them later. In that time it could hear no other rank. *last_ns:
 * of that call.
 */
static inline uint64_t sl_rank_pause_ns(uint64_t now_ns, uint64_t *last_ns)
{
	uint64_t since = now_ns - *last_ns;

	*last_ns = now_ns;
	return since > 2 * SL_RANK_ALIVE_NS ? since : 0;
}

/* Fills the list of ranks of the workspace, for the report. Called by all ranks together. */
enum sl_status sl_rank_facts_gather(struct sl_workspace *w, struct sl_ranks *ranks);

/* Allocates the server of run; closed by sl_batch_server_close(), also after a failure. */
enum sl_status sl_batch_server_open(struct sl_run_workers *run, struct sl_ranks *ranks);
void sl_batch_server_close(struct sl_run_workers *run);

/* Handles all messages that have arrived, and sends what is due. */
void sl_batch_server_exchange(struct sl_run_workers *run);

/* Have all other ranks ended, or been lost? */
bool sl_batch_server_is_over(const struct sl_run_workers *run);

/*
 * The first batch in order of other ranks that is not committed yet, or NULL. It can be committed
 * if its state is SL_SLOT_WRITTEN. Called by writers with the lock held.
 */
struct sl_remote_batch *sl_batch_server_first(const struct sl_run_workers *run);

/* False once the batches of other ranks were cancelled. Called by writers with the lock held. */
bool sl_batch_server_may_commit(const struct sl_run_workers *run);

#endif
