/*
 * workers.h - the state that the threads of a run share.
 *
 * run.c starts and watches the threads, compute.c computes batches, writer.c writes and commits
 * them. One lock guards the state, and one condition is signalled after each change. The lock is
 * held for decisions alone, never while a thread computes or does I/O: it is taken a few times per
 * batch.
 *
 * Each slot has a state. In the states with -ING the slot belongs to one thread, which works on it
 * without the lock; in the others, it waits for a thread.
 *
 *	FREE        no batch; the next compute thread takes it
 *	LOST        the device of the batch has failed; waits for a compute thread of another one
 *	COMPUTING   a compute thread reads, computes and packs the batch
 *	READY       packed; waits for a writer
 *	WRITING     a writer assembles the file and writes it as NAME.part
 *	WRITTEN     the .part file is durable; waits until all earlier batches are committed
 *	COMMITTING  a writer renames the file and appends the manifest line; then FREE
 *
 * Under MPI the batches of other ranks have such a state too (batch_server.c): COMPUTING until rank
 * 0 has the message that their files are written, then WRITTEN and COMMITTING, and COMMITTED until
 * rank 0 has sent the answer to the rank.
 *
 * A run ends in one of two ways. With `stop`, no further batch starts and those in flight are
 * committed. With the workspace's `cancel`, batches in flight end early and are not committed.
 *
 * This header also declares the functions of batch_server.c and batch_client.c: the files of this
 * folder call them, and nobody else.
 */
#ifndef SL_PIPELINE_RUN_WORKERS_H
#define SL_PIPELINE_RUN_WORKERS_H

#include <pthread.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/ranks/ranks.h"
#include "pipeline/run/run.h"

/* The states of a slot, in the order in which a batch passes through them; LOST is an exception. */
enum sl_slot_state {
	SL_SLOT_FREE,
	SL_SLOT_LOST,
	SL_SLOT_COMPUTING,
	SL_SLOT_READY,
	SL_SLOT_WRITING,
	SL_SLOT_WRITTEN,
	SL_SLOT_COMMITTING,
	SL_SLOT_COMMITTED
};

/* The progress of the batch in one slot, next to the slot's memory in the workspace. */
struct sl_slot_work {
	enum sl_slot_state state;
	uint32_t device; /* that computes the batch, or computed it */
	bool has_inputs; /* the particles of the batch were read from files */
	bool queues;     /* the batch is in a device pipeline, or waits for one */
	bool waits;      /* it waits for one */
	struct sl_batch_write writing;
	/* The result of writing. A failure is reported when the batch is due for commit, so that
	 * earlier batches are committed first, and the run can be resumed after them. */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES]; /* of that failure */
};

/* On rank 0: a batch that another rank computes. */
struct sl_remote_batch {
	enum sl_slot_state state;
	uint32_t rank;
	uint64_t number;
	uint64_t start_ns; /* when it was given to the rank */
	struct sl_manifest_line line;
};

/* The lock guards every member that changes after the threads have started. */
struct sl_run_workers {
	/* Set before the threads start. */
	struct sl_workspace *w;
	const struct sl_plan *plan; /* w->plan */
	bool discard;               /* compute only: nothing is packed or written */
	bool trial;                 /* sl_run_trial(): control->batch is not called */
	struct sl_stop_rule stop_rule;
	const struct sl_dir *dir;       /* not used with discard */
	const struct sl_manifest *done; /* batches that earlier sessions committed */
	uint64_t done_particles;        /* of these batches */
	const struct sl_control *control;
	struct sl_batch_server *server; /* on rank 0 of a run under MPI, else NULL */
	struct sl_batch_client *client; /* on its other ranks, else NULL */

	pthread_mutex_t lock;
	pthread_cond_t changed;     /* any change below; threads check again what they wait for */
	struct sl_session *session; /* measurements of this session */

	/* Batches. */
	uint64_t next;        /* the next batch to start, if it is not in done */
	size_t next_done;     /* the first line of done with a batch >= next */
	uint64_t started;     /* batches started in this session */
	uint64_t commits;     /* batches committed in this session */
	uint64_t first, end;  /* the batches of the run; fewer once the stop rule is met */
	size_t next_counted;  /* the first line of done that is not part of stop_sums */
	double longest_batch; /* longest time from start to READY so far, in seconds */
	bool stop;            /* start no further batch */
	bool stop_rule_met;   /* batches from end on are not part of the run */
	bool abandoned;       /* rank 0 has cancelled the batches of this rank */
	int stop_asked;       /* as sl_control.stop, by a signal to another rank */
	/* Of the stop rule's fate, over the committed batches before the first gap. */
	struct sl_stop_sums stop_sums;

	/* Slots. */
	struct sl_slot_work *slot_work; /* plan->n_host_slots items */
	bool *device_slot_taken;        /* one for each device pipeline */

	/* Threads that have not ended. */
	uint32_t working;   /* compute threads and writers */
	uint32_t computing; /* compute threads */
	uint32_t writers;   /* writers that have started; numbers their file images */
	uint32_t computers; /* compute threads that have started; numbers their devices */

	/* The first failure of any thread. */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
};

/*
 * Records the calling thread's failure s, with sl_last_error(), unless another was first. Stops the
 * run and cancels batches in flight. Called with the lock held.
 */
void sl_run_workers_fail(struct sl_run_workers *run, enum sl_status s);

/*
 * Is there a batch to start that no earlier session has committed? Without a client its number is
 * run->next then. Called with the lock held.
 */
bool sl_run_workers_has_next(struct sl_run_workers *run);

/*
 * The slot of the first batch in order among those whose state is least, most or between them;
 * n_host_slots if there is none. Called with the lock held.
 */
uint32_t sl_run_workers_find_first(
	const struct sl_run_workers *run, enum sl_slot_state least, enum sl_slot_state most);

/* Adds the batch in slot, which was committed, to the session. Called with the lock held. */
void sl_run_workers_add_to_session(struct sl_run_workers *run, const struct sl_host_slot *slot,
	const struct sl_slot_work *work);

/*
 * Drops device d after the failure s of the calling thread, with sl_last_error(), if s is
 * SL_DEVICE_FAILED and another device is left. Else records the failure for the run. Returns
 * whether d is dropped. Called with the lock held.
 */
bool sl_run_workers_drop(struct sl_run_workers *run, uint32_t d, enum sl_status s);

/* --- batch_server ----------------------------------------------------------------------------- */

/*
 * Rank 0 of a run under MPI gives batches to the other ranks and commits what they
 * wrote.
 *
 * All ranks draw batches from one counter, run->next of rank 0. Another rank (batch_client.c) asks
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

/* --- batch_client ----------------------------------------------------------------------------- */

/*
 * A rank other than 0 of a run under MPI: gets batches from rank 0 and has them committed.
 *
 * The messages are those above. A slot whose files are written is in state COMMITTING until rank 0
 * has committed the batch. Functions are called by the main thread unless stated otherwise.
 */

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
