/*
 * run.h - a plan is carried out: batches in parallel, one a thread, committed in order.
 *
 *	thread: take the next batch and a free slot -> stages -> pack
 *	writer: the next batch in order -> assemble -> write under .part
 *	        the next batch that is written -> its name -> manifest -> the slot is free
 *
 * The bytes of the output do not depend on the number of threads. After each batch, in batch
 * order, a writer evaluates the stop rule; once it is met, batches in flight are discarded. Threads
 * wait while all slots hold batches that are not yet written.
 */
#ifndef SL_PIPELINE_RUN_RUN_H
#define SL_PIPELINE_RUN_RUN_H

#include <stdatomic.h>

#include "pipeline/results/manifest.h"
#include "pipeline/run/workspace.h"

struct sl_progress {
	uint64_t batches_done, n_batches; /* batches of earlier sessions count as done */
	bool at_most;                     /* the run may meet its stop rule earlier */
	uint64_t particles_done, particles;
	double seconds;      /* since this session began */
	double rate;         /* particles a second in this session */
	double seconds_left; /* seconds, foreseen; < 0: not known yet */
};

/* How the caller follows a run and stops it. Zeroed, it does neither. */
struct sl_control {
	atomic_int stop;    /* set by a signal handler: begin no more, commit what is in flight */
	double stop_before; /* seconds this session may take: it stops in time; 0: any */
	int cancel_after;   /* seconds until what is in flight is dropped instead; 0: 6 */
	void (*progress)(void *ctx, const struct sl_progress *p); /* about five times a second */
	/* Each batch when it is ready, in order, by one thread at a time. */
	void (*batch)(void *ctx, const struct sl_host_slot *slot);
	void *ctx;
	bool discard; /* compress and write nothing: dir is not used */
};

/*
 * Who works on batches. A slot on the device is busy while a batch is on it, copies and all; a
 * thread while it computes or compresses, but not while the device does.
 */
#define SL_WORKERS(X) X(device) X(threads) X(writers)
enum sl_worker {
#define X(name) SL_WORKER_##name,
	SL_WORKERS(X)
#undef X
		SL_WORKER_COUNT
};
extern const char *const sl_workers[SL_WORKER_COUNT];

/* What this session did for the batches it committed; nanoseconds are summed over threads. */
struct sl_session {
	uint64_t batches, particles;
	uint64_t column_bytes; /* of survivors' columns, those of one value left out */
	uint64_t file_bytes;   /* what became of them */
	uint64_t stage_ns[SL_STAGE_COUNT];
	struct sl_rounds rounds; /* of the stage advance */
	uint64_t transfer_ns;    /* survivors' columns copied from the device */
	uint64_t pack_ns, assemble_ns, commit_ns;
	uint64_t busy_ns[SL_WORKER_COUNT]; /* of all of a kind */
	double seconds;                    /* wall clock */
};

/* The share of the session that workers of a kind were busy; 0 if there are none. */
double sl_session_busy_share(
	const struct sl_session *s, const struct sl_plan *plan, enum sl_worker kind);

/* Seconds that threads, or batches in flight on a device, computed in a session. */
double sl_session_computing_seconds(const struct sl_session *s);

/*
 * Runs the plan of w, with the schedule in use, in dir (locked by the caller). done are the batches
 * committed there before. SL_STOPPED if control->stop ended the run early: committed batches stay
 * and the run can be resumed. SL_OK if all batches are committed, or those up to the one that met
 * the stop rule.
 */
enum sl_status sl_run(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *done, struct sl_control *control, struct sl_session *session);

/*
 * Computes the first particles of the run as one batch, for its time: writes nothing, ignores the
 * stop rule and calls no control->batch. particles must fit in a batch of the plan.
 */
enum sl_status sl_run_trial(struct sl_workspace *w, uint32_t particles, struct sl_control *control,
	struct sl_session *session);

#endif
