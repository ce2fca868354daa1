/*
 * run.c - starts the threads of a run, watches them and stops them.
 *
 * The calling thread computes nothing. It wakes five times a second, and after each change of the
 * shared state, to report progress and to find out whether the run has to end. A run ends early in
 * two steps: first no further batch starts (stop); then, if batches in flight take too long, they
 * are cancelled and computed again by the session that resumes.
 */
#include <string.h>
#include <time.h>

#include "pipeline/run/run.h"
#include "pipeline/run/workers.h"
#include "primitives/base/clock.h"
#include "primitives/base/jobs.h"
#include "stages/inputs/inputs.h"

/*
 * Times in seconds. Batches in flight may take CANCEL_AFTER after a signal; pipeline/cli/signals.c
 * ends the program two seconds later. Within a time limit (run.stop_before), time is kept free for
 * the last commits, and for run.json.
 */
enum {
	CANCEL_AFTER = 6,
	SECONDS_TO_COMMIT = 2, /* kept free when a further batch would start */
	SECONDS_TO_FINISH = 1  /* kept free when batches in flight are cancelled */
};

/*
 * The interval between reports, and between looks at control, in nanoseconds. Under MPI the main
 * thread looks for messages in shorter intervals: each batch of another rank needs two of them.
 */
enum { INTERVAL_NS = 200000000, MESSAGES_NS = 500000 };

static double seconds_since(uint64_t start_ns)
{
	return 1e-9 * (double)(sl_now_ns() - start_ns);
}

/*
 * Calls control->progress. The rate is that of this session: batches of earlier sessions count as
 * done, but not their time. The lock, which the caller holds, is released during the call: a
 * terminal can hold up its output.
 */
static void report_progress(struct sl_run_workers *run, double seconds)
{
	const struct sl_control *control = run->control;
	struct sl_progress p = {.n_batches = run->end - run->first,
		.at_most = run->stop_rule.below > 0 && !run->stop_rule_met,
		.particles = sl_plan_batches(run->plan).particles,
		.seconds = seconds,
		.seconds_left = -1};

	if (!control->progress)
		return;
	p.batches_done = run->done->n + run->commits;
	p.particles_done = run->done_particles + run->session->particles;
	if (run->stop_rule_met)
		p.particles = p.particles_done;
	if (run->session->particles > 0 && p.seconds > 0) {
		p.rate = (double)run->session->particles / p.seconds;
		p.seconds_left = (double)(p.particles - p.particles_done) / p.rate;
	}
	pthread_mutex_unlock(&run->lock);
	control->progress(control->ctx, &p);
	pthread_mutex_lock(&run->lock);
}

/* The value of sl_control.stop, here or on another rank; 0: the run goes on. */
static int find_stop(const struct sl_run_workers *run)
{
	int here = atomic_load(&run->control->stop);

	return here > run->stop_asked ? here : run->stop_asked;
}

/*
 * Should no further batch start? Either control->stop is set, or a further batch could end after
 * the time limit: it may take twice as long as the longest so far. seconds is the time of the
 * session.
 */
static bool is_time_to_stop(const struct sl_run_workers *run, double seconds)
{
	const struct sl_control *control = run->control;

	return find_stop(run) ||
	       (control->stop_before > 0 && seconds + 2 * run->longest_batch + SECONDS_TO_COMMIT >=
						    control->stop_before);
}

/* Should batches in flight be cancelled? since_stop is the time since none starts, in seconds. */
static bool is_time_to_cancel(const struct sl_run_workers *run, double seconds, double since_stop)
{
	const struct sl_control *control = run->control;
	int limit = control->cancel_after > 0 ? control->cancel_after : CANCEL_AFTER;

	if (find_stop(run) == SL_STOP_AT_ONCE)
		return true;
	if (control->stop_before > 0 && !find_stop(run))
		return seconds + SECONDS_TO_FINISH >= control->stop_before;
	return since_stop > limit;
}

void sl_change_init(pthread_cond_t *c)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(c, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void sl_change_wait(pthread_cond_t *c, pthread_mutex_t *lock, long ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ns;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(c, lock, &until);
}

/*
 * Waits for the end of all threads and ranks, and stops them if control says so. A client is
 * stopped by rank 0. The lock is held.
 */
static void watch(struct sl_run_workers *run)
{
	uint64_t start = sl_now_ns(), reported = start;
	double stopped = -1; /* when the run stopped, in seconds since start; < 0: it did not */

	while (run->working > 0 || (run->server && !sl_batch_server_is_over(run)) ||
		(run->client && !sl_batch_client_is_over(run))) {
		double seconds;

		sl_change_wait(&run->changed, &run->lock,
			run->server || run->client ? MESSAGES_NS : INTERVAL_NS);
		if (run->client) {
			sl_batch_client_exchange(run, atomic_load(&run->control->stop));
			continue;
		}
		seconds = seconds_since(start);
		if (stopped < 0 && is_time_to_stop(run, seconds)) {
			stopped = seconds;
			run->stop = true;
			pthread_cond_broadcast(&run->changed);
		}
		if (stopped >= 0 && is_time_to_cancel(run, seconds, seconds - stopped))
			atomic_store(&run->w->cancel, 1);
		if (run->server)
			sl_batch_server_exchange(run);
		/* Changes that wake this thread more often do not cause more reports. */
		if (sl_now_ns() - reported >= INTERVAL_NS) {
			report_progress(run, seconds);
			reported = sl_now_ns();
		}
	}
	run->session->begun_ns = start;
	run->session->seconds = seconds_since(start);
	if (!run->client)
		report_progress(run, run->session->seconds);
}

enum { STACK_BYTES = 4 << 20 };

/*
 * Starts the writers, then the compute threads. *started is the number of threads that the caller
 * has to join, also after a failure. Called with the lock held, so no thread runs before it is
 * counted.
 */
static enum sl_status start_threads(
	struct sl_run_workers *run, struct sl_thread_handle *thread, uint32_t *started)
{
	uint32_t writers = run->plan->n_writers, n = writers + run->plan->threads;
	int error = 0;

	run->computing = run->plan->threads;
	for (*started = 0; *started < n && error == 0; *started += error == 0) {
		error = sl_thread_start(STACK_BYTES,
			*started < writers ? sl_writer_thread : sl_compute_thread, run,
			&thread[*started]);
		run->working += error == 0;
	}
	if (error == 0)
		return SL_OK;
	return sl_fail(SL_HOST_MEMORY,
		"thread %u of %u could not be started (%s); use fewer run.threads, or raise the "
		"limit of processes (ulimit -u)",
		*started + 1, n, strerror(error));
}

/*
 * Allocates slot states, thread handles and device flags, in this order of alignment, in one block
 * *memory, which the caller frees. This happens before the first particle, as all allocations.
 */
static enum sl_status allocate_work(
	struct sl_run_workers *run, struct sl_thread_handle **thread, void **memory)
{
	const struct sl_plan *plan = run->plan;
	size_t threads = (plan->n_writers + plan->threads) * sizeof(struct sl_thread_handle);
	size_t slots = plan->n_host_slots * sizeof(*run->slot_work),
	       device_slots = plan->n_devices * plan->n_device_slots * sizeof(bool);

	SL_TRY(sl_host_get_zeroed(1, slots + threads + device_slots, memory));
	run->slot_work = (struct sl_slot_work *)*memory;
	*thread = (struct sl_thread_handle *)(void *)((char *)*memory + slots);
	run->device_slot_taken = (bool *)*memory + slots + threads;
	return SL_OK;
}

/*
 * Starts the threads, waits for their end and removes their uncommitted files. Returns the first
 * failure.
 */
static enum sl_status run_threads(struct sl_run_workers *run)
{
	uint32_t started;
	struct sl_thread_handle *thread;
	void *memory;
	enum sl_status s;

	SL_TRY(allocate_work(run, &thread, &memory));
	pthread_mutex_lock(&run->lock);
	s = start_threads(run, thread, &started);
	if (s != SL_OK)
		sl_run_workers_fail(run, s);
	watch(run);
	pthread_mutex_unlock(&run->lock);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(thread[i].id, NULL);
	sl_writer_remove_uncommitted(run);
	if (run->client)
		sl_batch_client_end(run);
	sl_memory_give(SL_HOST, memory);
	if (run->status != SL_OK)
		sl_set_last_error(run->message); /* messages are per thread */
	return run->status;
}

const char *const sl_workers[SL_WORKER_COUNT] = {
#define X(name) #name,
	SL_WORKERS(X)
#undef X
};

double sl_session_busy_share(const struct sl_session *s, enum sl_worker kind)
{
	return s->workers[kind] > 0 && s->seconds > 0
	               ? 1e-9 * (double)s->busy_ns[kind] / (s->workers[kind] * s->seconds)
	               : 0;
}

void sl_session_add_times(struct sl_session *s, const struct sl_session *rank)
{
	s->column_bytes += rank->column_bytes;
	s->file_bytes += rank->file_bytes;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		s->stage_ns[i] += rank->stage_ns[i];
	s->cpu_ns += rank->cpu_ns;
	sl_rounds_add(&s->rounds, &rank->rounds);
	s->transfer_ns += rank->transfer_ns;
	s->pack_ns += rank->pack_ns;
	s->assemble_ns += rank->assemble_ns;
	s->commit_ns += rank->commit_ns;
	for (int k = 0; k < SL_WORKER_COUNT; k++) {
		s->busy_ns[k] += rank->busy_ns[k];
		s->workers[k] += rank->workers[k];
	}
}

double sl_session_computing_seconds(const struct sl_session *s)
{
	uint64_t ns = s->transfer_ns;

	if (s->cpu_ns > 0)
		return 1e-9 * (double)s->cpu_ns;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		ns += s->stage_ns[i];
	return 1e-9 * (double)ns;
}

/*
 * Runs all batches of run->w->recipe that are not in run->done. The caller has set the first group
 * of members of run, except plan, and session. If committed batches meet the stop rule already, the
 * threads start and end without a batch.
 */
static enum sl_status run_batches(struct sl_run_workers *run)
{
	enum sl_status s;

	memset(run->session, 0, sizeof(*run->session));
	run->session->workers[SL_WORKER_device] = run->plan->n_devices * run->plan->n_device_slots;
	run->session->workers[SL_WORKER_threads] = run->plan->threads;
	run->session->workers[SL_WORKER_writers] = run->plan->n_writers;
	atomic_store(&run->w->cancel, 0);
	run->first = run->next = run->trial ? 0 : sl_plan_batches(run->plan).first;
	run->end = run->trial ? run->w->recipe.n_batches : sl_plan_batches(run->plan).end;
	for (size_t i = 0; i < run->done->n; i++)
		run->done_particles += run->done->line[i].generated;
	sl_writer_check_stop_rule(run, false);
	if (run->w->recipe.inputs)
		sl_inputs_restart(run->w->recipe.inputs);
	pthread_mutex_init(&run->lock, NULL);
	sl_change_init(&run->changed);
	s = run_threads(run);
	pthread_cond_destroy(&run->changed);
	pthread_mutex_destroy(&run->lock);
	return s;
}

/* Makes this rank the server or a client of the others, which do the same. */
static enum sl_status open_ranks(struct sl_run_workers *run, struct sl_ranks *ranks)
{
	if (!ranks)
		return SL_OK;
	SL_TRY(sl_rank_facts_gather(run->w, ranks));
	return ranks->rank == 0 ? sl_batch_server_open(run, ranks)
	                        : sl_batch_client_open(run, ranks);
}

/* Sets the batches that rank 0 has computed: those of all ranks without those of the others. */
static void count_batches(const struct sl_run_workers *run)
{
	struct sl_rank_facts *rank = run->w->rank;

	if (!run->server)
		return;
	rank[0].batches = run->session->batches;
	for (uint32_t i = 1; i < run->w->n_ranks; i++)
		rank[0].batches -= rank[i].batches;
	rank[0].dropped_devices = run->session->dropped_devices;
}

static enum sl_status report_stop(const struct sl_run_workers *run, uint64_t done)
{
	return sl_fail(SL_STOPPED,
		"the run stopped after %lu of %s%lu batches, because %s; use --resume to "
		"compute the rest",
		done, run->stop_rule.below > 0 ? "at most " : "", (run->end - run->first),
		find_stop(run) ? "a signal asked it to stop" : "run.stop_before is nearly reached");
}

enum sl_status sl_run(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *done, struct sl_control *control, struct sl_session *session)
{
	struct sl_run_workers run = {.w = w,
		.plan = w->plan,
		.dir = dir,
		.done = done,
		.control = control,
		.session = session,
		.discard = control->discard,
		.stop_rule = w->plan->choices.stop_rule};
	enum sl_status s = open_ranks(&run, control->ranks);
	bool client = run.client != NULL;

	if (s == SL_OK) {
		s = run_batches(&run);
		count_batches(&run);
	}
	/* The other ranks wait for messages of this one, which did not start. */
	if (s != SL_OK && run.status == SL_OK && control->ranks)
		control->ranks->lost = true;
	sl_batch_server_close(&run);
	sl_batch_client_close(&run);
	if (client) /* rank 0 reports for all */
		return control->ranks->lost ? s : SL_OK;
	if (s == SL_OK && done->n + run.commits < run.end - run.first)
		s = SL_STOPPED;
	return s == SL_STOPPED ? report_stop(&run, done->n + run.commits) : s;
}

enum sl_status sl_run_trial(struct sl_workspace *w, uint32_t particles, struct sl_control *control,
	struct sl_session *session)
{
	const struct sl_manifest none = {0};
	struct sl_run_workers run = {.w = w,
		.plan = w->plan,
		.done = &none,
		.control = control,
		.session = session,
		.discard = true,
		.trial = true};

	/* sl_workspace_use() restores the recipe of the plan. */
	w->recipe.particles = particles;
	w->recipe.n_batches = 1;
	return run_batches(&run);
}
