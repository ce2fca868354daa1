/*
 * run.h - executes a plan: batches are computed in parallel and committed in order.
 *
 * 	compute thread   a free slot, the next batch -> stages -> pack
 * 	writer           the next packed batch -> assemble the file -> write it as NAME.part
 * 	                 the next written batch in order -> rename -> manifest line -> free the slot
 * 	calling thread   progress, time limit, signals
 *
 * The bytes of the output depend neither on the number of threads nor on their timing: a batch is a
 * function of its number, and everything summed over batches is summed at the commit, in batch
 * order. After each commit a writer evaluates the stop rule; once it is met, batches in flight are
 * discarded.
 *
 * Memory bounds the number of batches in flight: compute threads wait while no slot is free.
 *
 * Under MPI, rank 0 does this, and its ranks share the work: run.h.
 *
 * On several devices each compute thread serves one of them, and all draw batches from one counter.
 * A device that fails is dropped while another one is left: its batches are computed again there.
 *
 * A run can be resumed after any end. The manifest has a line for each committed batch and for no
 * other, and the next session computes the batches without a line.
 */
#ifndef SL_PIPELINE_RUN_RUN_H
#define SL_PIPELINE_RUN_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/plan/plan.h"
#include "pipeline/ranks/ranks.h"
#include "pipeline/results/results.h"
#include "primitives/device/placement.h"
#include "stages/device/device_pipeline.h"

/* --- workspace -------------------------------------------------------------------------------- */

/*
 * Everything that a run changes: slots, device pipelines, the schedule in use, and
 * the sums over batches.
 *
 * A plan is constant; the workspace refers to it and owns all memory that execution writes to.
 * After sl_workspace_allocate() nothing allocates, so a run that starts does not fail for lack of
 * memory; except the pinned memory for what a device packs, whose size is known when a batch is
 * there. The plan has counted the most that it can be.
 *
 * 	sl_workspace_open()       histograms and image: enough to add up batches that are committed
 * 	sl_workspace_allocate()   slots, device pipelines, file images: to compute batches
 * 	sl_workspace_use()        optional: another schedule in the same memory
 * 	sl_workspace_free_devices()   optional, after the last batch
 * 	sl_workspace_close().
 */

enum { SL_SCHEDULE_REASON_BYTES = 300 };

/* The joined file of a finished run. */
struct sl_joined_list {
	uint64_t particles;
	double threshold; /* of a sample: the least weight of its particles; 0: no sample was needed */
	double seconds; /* wall time of making it */
};

/* One device of a run. */
struct sl_run_device {
	struct sl_placement place;
	void *rules_data;           /* its copy of the data of the rules; NULL: they have none */
	bool binds;                 /* its threads run on the processors near it */
	bool dropped;               /* it has failed: the run continues on the others */
	char why[SL_MESSAGE_BYTES]; /* the message of that failure */
};

/* The last session of one of the parts that a run was joined from. */
struct sl_part_times {
	uint64_t number, batches;
	double seconds;
	char host[72];
};

/* What run.json of a joined run has from its parts, because its own plan has computed nothing. */
struct sl_parts_origin {
	const char *members; /* machine to primitives, from the run.json of a part */
	struct sl_part_times *part;
	size_t n_parts;
};

/* A rank of a run under MPI. */
struct sl_rank_facts {
	char host[72], device[128]; /* device: the first one that it uses, or "" */
	uint64_t process;
	/* of this session; set at the end, on rank 0 */
	uint64_t batches, dropped_devices;
	uint32_t threads, slots, devices;
};

/* What a file should have until the run ends. */
struct sl_file_contents {
	uint64_t bytes;
	uint32_t crc;
};

/* Values of sl_now_ns(); 0: unknown. */
struct sl_moments {
	uint64_t started; /* the command, or the call of a program */
	uint64_t planned, allocated, reported;
};

struct sl_workspace {
	const struct sl_plan *plan;
	struct sl_moments at;
	struct sl_recipe recipe; /* the plan's, with the schedule in use and the flag cancel */
	atomic_int cancel;       /* if set, batches in flight end early and are discarded */
	char schedule_reason[SL_SCHEDULE_REASON_BYTES]; /* why this schedule, or "" */
	double seconds[SL_CANDIDATES_MAX];          /* of each candidate's trial; 0: not measured */
	struct sl_host_slot *slot;                  /* plan->n_host_slots; NULL: not allocated */
	struct sl_run_device *device;               /* plan->n_devices */
	struct sl_device_pipeline *device_pipeline; /* plan->n_device_slots of each device */
	void *file_image;              /* one per writer, plan->memory.image bytes each */
	struct sl_tally_sums tallies;  /* over committed batches */
	void *histogram_block;         /* the memory of histograms */
	struct sl_image_sum image_sum; /* the image of the run, if it makes one */
	struct sl_joined_list joined;  /* the joined file, if the run makes one */
	struct sl_rank_facts *rank;    /* n_ranks; NULL: the run has one process */
	uint32_t n_ranks;
	bool keeps_list;                  /* an earlier session has made the joined file */
	struct sl_file_contents report;   /* of run.json while the run lasts */
	struct sl_file_contents manifest; /* of the manifest after the last batch */
	const struct sl_parts_origin
		*origin; /* of a joined run; NULL: this plan computes the run */
};

/*
 * Makes the workspace of a plan, with memory for its histograms and image, but without slots. The
 * plan must outlive it. The caller closes *made, also after a failure.
 */
enum sl_status sl_workspace_open(const struct sl_plan *plan, struct sl_workspace **made);

/*
 * Allocates slots, device pipelines and file images, and makes the plan's first device current for
 * the calling thread. Slot i of the host has memory near device i modulo the number of devices.
 * SL_HOST_MEMORY or SL_DEVICE_MEMORY if the system has less than the plan found free.
 */
enum sl_status sl_workspace_allocate(struct sl_workspace *w);

/*
 * Makes a candidate's schedule the one in use, and lays out slots and device pipelines for it. No
 * batch may be in flight; what the slots held is lost. Allocates nothing but streams and events of
 * the device.
 */
enum sl_status sl_workspace_use(struct sl_workspace *w, const struct sl_candidate *candidate);

/*
 * Frees the memory of all device pipelines, so that the devices can sort the joined file. No batch
 * may be computed afterwards.
 */
void sl_workspace_free_devices(struct sl_workspace *w);

/* Frees the workspace, not the plan; w may be NULL. */
void sl_workspace_close(struct sl_workspace *w);

/* For SL_CLOSED_BY: frees *w. */
static inline void sl_workspace_give(struct sl_workspace **w)
{
	sl_workspace_close(*w);
}

/* --- run -------------------------------------------------------------------------------------- */

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
 * the stages, summed over threads. On a device: seconds of stages and transfers, summed over the
 * batches in flight.
 */
double sl_session_computing_seconds(const struct sl_session *s);

/*
 * Executes the plan of w, with the schedule in use, in dir, which the caller has locked. done are
 * the batches committed there before. Sets *session, also after a failure.
 *
 * Returns SL_OK if all batches are committed, or those up to the one that met the stop rule.
 * Returns SL_STOPPED if control->stop or the time limit ended the run earlier. Any other status is
 * the first failure of a thread, except that of a dropped device (w->device). In all cases
 * committed batches stay and the run can be resumed.
 *
 * Under MPI these are the results of rank 0, for all ranks, and session has the sums over ranks.
 * The other ranks, for which done is empty, return SL_OK; all return SL_PEER_LOST if a rank was
 * lost.
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

/*
 * A condition of which threads wait for a change of what its lock guards, but at most so many
 * nanoseconds: changes of the time of day do not affect them.
 */
void sl_change_init(pthread_cond_t *c);
void sl_change_wait(pthread_cond_t *c, pthread_mutex_t *lock, long ns);

/* --- autotune --------------------------------------------------------------------------------- */

/*
 * Chooses the schedule by measurement where transport.schedule leaves it open.
 *
 * Each candidate of the plan computes the same first particles, in the memory of the run: fewer of
 * them to warm up, then all of them, which is timed. All candidates give the same bits, so the
 * choice changes no result, and sessions of one run may choose differently.
 */

/*
 * Measures the candidates of the plan of w, makes the fastest the schedule in use and writes the
 * times to w->schedule_reason. w has its slots (sl_workspace_allocate()). done are the batches
 * committed before. The schedule stays that of the plan if there is no choice, or if too few
 * particles are left for trials; it is histories if control->stop is set. Returns the failure of a
 * trial.
 */
enum sl_status sl_autotune_schedule(
	struct sl_workspace *w, const struct sl_manifest *done, struct sl_control *control);

/* --- compute ---------------------------------------------------------------------------------- */

/* The threads that compute batches and pack them. */

struct sl_run_workers; /* workers.h */

/*
 * The body of a compute thread; ctx is the struct sl_run_workers. Ends when no batch is left to
 * start or the run stops; a failure is recorded with sl_run_workers_fail(). Returns NULL.
 */
void *sl_compute_thread(void *ctx);

/* --- writer ----------------------------------------------------------------------------------- */

/* The threads that write batches in parallel and commit them in batch order. */

/*
 * The body of a writer; ctx is the struct sl_run_workers. Ends when all batches are committed, when
 * the stop rule is met or when a thread has failed. Returns NULL.
 */
void *sl_writer_thread(void *ctx);

/*
 * Adds batches of earlier sessions to the sums of the stop rule, as long as they follow without a
 * gap. If the stop rule is met by them, or met is true already, the run ends after the last batch
 * of these sums. Called with the lock held, or before the threads start.
 */
void sl_writer_check_stop_rule(struct sl_run_workers *run, bool met);

/* Removes files that were written and not committed. Called after all threads have ended. */
void sl_writer_remove_uncommitted(const struct sl_run_workers *run);

#endif
