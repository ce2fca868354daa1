/*
 * run.h - executes a plan: batches are computed in parallel and committed in order.
 *
 *	compute thread   a free slot, the next batch -> stages -> pack
 *	writer           the next packed batch -> assemble the file -> write it as NAME.part
 *	                 the next written batch in order -> rename -> manifest line -> free the slot
 *	calling thread   progress, time limit, signals
 *
 * The bytes of the output depend neither on the number of threads nor on their timing: a batch is a
 * function of its number, and everything summed over batches is summed at the commit, in batch
 * order. After each commit a writer evaluates the stop rule; once it is met, batches in flight are
 * discarded.
 *
 * Memory bounds the number of batches in flight: compute threads wait while no slot is free.
 *
 * Under MPI, rank 0 does this, and its ranks share the work: batch_server.h.
 *
 * On several devices each compute thread serves one of them, and all draw batches from one counter. A
 * device that fails is dropped while another one is left: its batches are computed again there.
 *
 * A run can be resumed after any end. The manifest has a line for each committed batch and for no
 * other, and the next session computes the batches without a line.
 */
#ifndef SL_PIPELINE_RUN_RUN_H
#define SL_PIPELINE_RUN_RUN_H

#include <stdatomic.h>

#include "pipeline/ranks/ranks.h"
#include "pipeline/results/manifest.h"
#include "pipeline/run/workspace.h"

struct sl_progress {
	uint64_t batches_done, n_batches; /* batches of earlier sessions count as done */
	bool at_most;                     /* the run may meet its stop rule earlier */
	uint64_t particles_done, particles;
	double seconds;      /* since this session started */
	double rate;         /* particles per second in this session */
	double seconds_left; /* estimate from the rate; < 0: not known yet */
};

/* Values of sl_control.stop. */
enum {
	SL_STOP_IN_ORDER = 1, /* start no batch, commit those in flight */
	SL_STOP_AT_ONCE = 2   /* start no batch, cancel those in flight */
};

/*
 * How the caller follows a run and stops it; all zero: it does neither. Only stop changes while a
 * run uses it.
 */
struct sl_control {
	atomic_int stop;    /* set by a signal handler or another thread; 0: the run goes on */
	double stop_before; /* time limit of this session in seconds; 0: none */
	int cancel_after;   /* seconds from stop until batches in flight are cancelled; 0: 6 */
	/* If set: called about five times a second, by the thread that called sl_run(). */
	void (*progress)(void *ctx, const struct sl_progress *p);
	/* If set: called after the commit of each batch, in order, by one thread at a time. slot
	 * is valid during the call, which may take slot->batch.resident (and sets it to NULL). A
	 * failure ends the run. */
	enum sl_status (*batch)(void *ctx, struct sl_host_slot *slot);
	void *ctx;    /* passed to both */
	bool discard; /* pack and write nothing: dir is not used */
	struct sl_ranks
		*ranks; /* of a run under MPI: all call sl_run() together; NULL: one process */
};

/*
 * The kinds of workers whose busy time is measured. A device slot is busy from the time a batch
 * takes its pipeline until the results are on the host; a compute thread while it computes or
 * packs, but not while it waits for a device; a writer while it writes or commits. The names are
 * keys of run.json.
 */
#define SL_WORKERS(X) X(device) X(threads) X(writers)
enum sl_worker {
#define X(name) SL_WORKER_##name,
	SL_WORKERS(X)
#undef X
		SL_WORKER_COUNT
};
extern const char *const sl_workers[SL_WORKER_COUNT];

/*
 * Measurements of a session over the batches it committed. Times in nanoseconds are summed over
 * threads. busy_ns also includes batches that were not committed.
 */
struct sl_session {
	uint64_t batches, particles;
	uint64_t column_bytes; /* survivors' columns before packing, without columns of one value */
	uint64_t file_bytes;   /* the survivor files */
	uint64_t device_batches[SL_DEVICES_MAX]; /* batches that each device of the plan computed */
	uint64_t dropped_devices;
	uint64_t stage_ns[SL_STAGE_COUNT];
	uint64_t cpu_ns;         /* processor time of the stages on the host */
	struct sl_rounds rounds; /* of the stage advance */
	uint64_t transfer_ns;    /* copies of survivors from the device to the host */
	uint64_t pack_ns, assemble_ns;
	uint64_t commit_ns; /* writing the .part file and committing it */
	uint64_t busy_ns[SL_WORKER_COUNT];
	uint32_t workers[SL_WORKER_COUNT]; /* of each kind, on all ranks */
	uint64_t begun_ns;                 /* sl_now_ns() when the threads started */
	double seconds;                    /* wall clock, from then on */
};

/* The share of the session, 0 to 1, in which workers of a kind were busy; 0 if there are none. */
double sl_session_busy_share(const struct sl_session *s, enum sl_worker kind);

/* Adds the times and bytes of another rank to s, which has counted its batches already. */
void sl_session_add_times(struct sl_session *s, const struct sl_session *rank);

/*
 * The cost of computing, without compressing and writing. On the host: seconds of processor time of
 * the stages, summed over threads. On a device: seconds of stages and transfers, summed over the batches
 * in flight.
 */
double sl_session_computing_seconds(const struct sl_session *s);

/*
 * Executes the plan of w, with the schedule in use, in dir, which the caller has locked. done are
 * the batches committed there before. Sets *session, also after a failure.
 *
 * Returns SL_OK if all batches are committed, or those up to the one that met the stop rule.
 * Returns SL_STOPPED if control->stop or the time limit ended the run earlier. Any other status is
 * the first failure of a thread, except that of a dropped device (w->device). In all cases committed
 * batches stay and the run can be resumed.
 *
 * Under MPI these are the results of rank 0, for all ranks, and session has the sums over ranks. The
 * other ranks, for which done is empty, return SL_OK; all return SL_PEER_LOST if a rank was lost.
 */
enum sl_status sl_run(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *done, struct sl_control *control, struct sl_session *session);

/*
 * Computes the first particles of the run as one batch, to measure the time of the schedule in use.
 * Writes nothing, ignores the stop rule and does not call control->batch. particles must fit in a
 * batch of the plan. Changes the recipe of w: call sl_workspace_use() before w is used for a run.
 */
enum sl_status sl_run_trial(struct sl_workspace *w, uint32_t particles, struct sl_control *control,
	struct sl_session *session);

#endif
