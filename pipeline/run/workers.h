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
 * Under MPI the batches of other ranks have such a state too (batch_server.h): COMPUTING until rank
 * 0 has the message that their files are written, then WRITTEN and COMMITTING, and COMMITTED until
 * rank 0 has sent the answer to the rank.
 *
 * A run ends in one of two ways. With `stop`, no further batch starts and those in flight are
 * committed. With the workspace's `cancel`, batches in flight end early and are not committed.
 */
#ifndef SL_PIPELINE_RUN_WORKERS_H
#define SL_PIPELINE_RUN_WORKERS_H

#include <pthread.h>

#include "pipeline/batch_file/batch_file.h"
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

/* Adds the batch in slot, which was committed, to the session. Called with the lock held. */
void sl_run_workers_add_to_session(struct sl_run_workers *run, const struct sl_host_slot *slot,
	const struct sl_slot_work *work);

/*
 * Drops device d after the failure s of the calling thread, with sl_last_error(), if s is
 * SL_DEVICE_FAILED and another device is left. Else records the failure for the run. Returns
 * whether d is dropped. Called with the lock held.
 */
bool sl_run_workers_drop(struct sl_run_workers *run, uint32_t d, enum sl_status s);

#endif
