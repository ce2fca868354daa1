/*
 * workers.h - what the threads of a run share: run.c starts and watches them, compute.c computes
 * batches, writer.c writes and commits them.
 */
#ifndef SL_PIPELINE_RUN_WORKERS_H
#define SL_PIPELINE_RUN_WORKERS_H

#include <pthread.h>

#include "pipeline/run/batch_file.h"
#include "primitives/base/clock.h"

/* States of a slot in their order, from the start of its batch to the commit. */
enum sl_slot_state {
	SL_SLOT_FREE,
	SL_SLOT_BUSY,
	SL_SLOT_READY,
	SL_SLOT_WRITING,
	SL_SLOT_WRITTEN,
	SL_SLOT_COMMITTING
};

/* Writer-side state of one slot. */
struct sl_slot_work {
	enum sl_slot_state state;
	struct sl_batch_write writing;
	enum sl_status
		status; /* result of writing; a failure is reported when the batch is due for commit */
	char message[SL_MESSAGE_BYTES];
};

/* State shared by all threads; `lock` guards every member that is not atomic. */
struct sl_run_workers {
	struct sl_workspace *w;
	const struct sl_plan *plan; /* w->plan */
	bool discard;               /* compute only: nothing is compressed or written */
	bool trial;                 /* sl_run_trial(): control->batch is not called */
	struct sl_stop_rule stop_rule;
	const struct sl_dir *dir;
	const struct sl_manifest *done;
	const struct sl_control *control;
	struct sl_session *session;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t next;       /* the next batch to begin */
	uint64_t started;    /* batches begun in this session */
	size_t next_done;    /* the first line of done that is not before next */
	uint64_t commits;    /* batches committed in this session */
	uint64_t end;        /* batches that the run has; fewer once the stop rule is met */
	size_t next_counted; /* the first line of done that is not part of precision */
	struct sl_precision
		precision; /* of the rule's fate, over committed batches without a gap */
	struct sl_slot_work *slot_work; /* n_host_slots items */
	bool *device_slot_taken;
	double longest_batch; /* seconds from the begin of a batch until it is ready, so far */
	uint32_t working;     /* threads, writers too, that have not ended */
	uint32_t computing;   /* compute threads among them */
	uint32_t writers;     /* writers that have started */
	bool stop;            /* begin no further batch */
	bool stop_rule_met;   /* the stop rule is met */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
};

static inline double sl_run_workers_seconds(void)
{
	return 1e-9 * (double)sl_now_ns();
}

/* Records the first failure and makes all threads end. Called with the lock held. */
void sl_run_workers_fail(struct sl_run_workers *run, enum sl_status s);

#endif
