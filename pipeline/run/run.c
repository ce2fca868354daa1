/* run.c - threads are started, watched and stopped. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "pipeline/run/compute.h"
#include "pipeline/run/writer.h"
#include "stages/inputs/input_reader.h"

static void report_progress(
	struct sl_run_workers *run, const struct sl_control *control, double start)
{
	struct sl_progress p = {.n_batches = run->end,
		.at_most = run->stop_rule.below > 0 && !run->stop_rule_met,
		.particles = run->w->recipe.particles,
		.seconds = sl_run_workers_seconds() - start,
		.seconds_left = -1};

	if (!control->progress)
		return;
	p.batches_done = run->done->n + run->commits;
	p.particles_done = run->session->particles;
	for (size_t i = 0; i < run->done->n; i++)
		p.particles_done += run->done->line[i].generated;
	if (run->stop_rule_met)
		p.particles = p.particles_done;
	if (run->session->particles > 0 && p.seconds > 0) {
		p.rate = (double)run->session->particles / p.seconds;
		p.seconds_left = (double)(p.particles - p.particles_done) / p.rate;
	}
	control->progress(control->ctx, &p);
}

/*
 * Is it time to begin no more batches? By a signal, or because one more could end too late: twice
 * the longest so far, and two seconds for the writer and for ending in order.
 */
static bool is_time_to_stop(
	const struct sl_run_workers *run, struct sl_control *control, double taken)
{
	return atomic_load(&control->stop) ||
	       (control->stop_before > 0 &&
		       taken + 2 * run->longest_batch + 2 >= control->stop_before);
}

/* Is it time to give up what is in flight? */
static bool is_time_to_cancel(const struct sl_control *control, double taken, double since_asked)
{
	int cancel_after = control->cancel_after > 0 ? control->cancel_after : 6;

	return control->stop_before > 0 && !atomic_load(&control->stop)
	               ? taken + 1 >= control->stop_before
	               : since_asked > cancel_after;
}

/* Waits for all threads; looks at control five times a second. Called with the lock held. */
static void watch(struct sl_run_workers *run, struct sl_control *control)
{
	double start = sl_run_workers_seconds(), asked = -1, reported = start;

	while (run->working > 0) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += 200000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&run->changed, &run->lock, &until);
		if (asked < 0 && is_time_to_stop(run, control, sl_run_workers_seconds() - start)) {
			asked = sl_run_workers_seconds();
			run->stop = true;
			pthread_cond_broadcast(&run->changed);
		}
		if (asked >= 0 && is_time_to_cancel(control, sl_run_workers_seconds() - start,
					  sl_run_workers_seconds() - asked))
			atomic_store(&run->w->cancel, 1);
		/* threads that wake this one often do not make it tell more often */
		if (sl_run_workers_seconds() - reported >= 0.2 || run->working == 0) {
			report_progress(run, control, start);
			reported = sl_run_workers_seconds();
		}
	}
	run->session->seconds = sl_run_workers_seconds() - start;
}

/* Starts writers, then threads of work; those that did start are counted in *started. */
static enum sl_status start_threads(
	struct sl_run_workers *run, pthread_t *thread, uint32_t *started)
{
	uint32_t writers = run->plan->n_writers, n = writers + run->plan->threads;
	sigset_t all, old;
	int error = 0;

	/* Signals are for the main thread, but for those that a thread brings about itself. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	run->computing = run->plan->threads;
	for (*started = 0; *started < n && error == 0; *started += error == 0) {
		run->working++;
		error = pthread_create(&thread[*started], NULL,
			*started < writers ? sl_writer_thread : sl_compute_thread, run);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error == 0)
		return SL_OK;
	run->working--;
	return sl_fail(SL_HOST_MEMORY,
		"thread %u of %u could not be started (%s), try fewer run.threads", *started, n - 1,
		strerror(error));
}

/* Allocates thread handles and slot states in one block, before the first particle. */
static enum sl_status allocate_work(struct sl_run_workers *run, pthread_t **thread, void **memory)
{
	const struct sl_plan *plan = run->plan;
	size_t threads = (plan->n_writers + plan->threads) * sizeof(pthread_t);
	size_t slots = plan->n_host_slots * sizeof(*run->slot_work),
	       device_slots = plan->n_device_slots * sizeof(bool);

	SL_TRY(sl_memory_get(SL_HOST, slots + threads + device_slots, memory));
	memset(*memory, 0, slots + threads + device_slots);
	run->slot_work = (struct sl_slot_work *)*memory;
	*thread = (pthread_t *)(void *)((char *)*memory + slots);
	run->device_slot_taken = (bool *)*memory + slots + threads;
	return SL_OK;
}

static enum sl_status run_threads(struct sl_run_workers *run, struct sl_control *control)
{
	uint32_t started;
	pthread_t *thread;
	void *memory;
	enum sl_status s;

	SL_TRY(allocate_work(run, &thread, &memory));
	pthread_mutex_lock(&run->lock);
	s = start_threads(run, thread, &started);
	if (s != SL_OK)
		sl_run_workers_fail(run, s);
	watch(run, control);
	pthread_mutex_unlock(&run->lock);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	sl_writer_remove_uncommitted(run);
	sl_memory_give(SL_HOST, memory);
	if (run->status != SL_OK)
		sl_set_last_error(run->message); /* it was another thread's */
	return run->status;
}

const char *const sl_workers[SL_WORKER_COUNT] = {
#define X(name) #name,
	SL_WORKERS(X)
#undef X
};

double sl_session_busy_share(
	const struct sl_session *s, const struct sl_plan *plan, enum sl_worker kind)
{
	const uint32_t n[SL_WORKER_COUNT] = {[SL_WORKER_device] = plan->n_device_slots,
		[SL_WORKER_threads] = plan->threads,
		[SL_WORKER_writers] = plan->n_writers};

	return n[kind] > 0 && s->seconds > 0
	               ? 1e-9 * (double)s->busy_ns[kind] / (n[kind] * s->seconds)
	               : 0;
}

double sl_session_computing_seconds(const struct sl_session *s)
{
	uint64_t ns = s->transfer_ns;

	for (int i = 0; i < SL_STAGE_COUNT; i++)
		ns += s->stage_ns[i];
	return 1e-9 * (double)ns;
}

/* Runs the batches of run->w->recipe with threads of its own. */
static enum sl_status run_batches(struct sl_run_workers *run, struct sl_control *control)
{
	pthread_condattr_t monotonic;
	enum sl_status s;

	memset(run->session, 0, sizeof(*run->session));
	atomic_store(&run->w->cancel, 0);
	run->plan = run->w->plan;
	run->control = control;
	run->end = run->w->recipe.n_batches;
	sl_writer_check_stop_rule(run, false);
	if (run->w->recipe.inputs)
		sl_inputs_restart(run->w->recipe.inputs);
	pthread_mutex_init(&run->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&run->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	s = run_threads(run, control);
	pthread_cond_destroy(&run->changed);
	pthread_mutex_destroy(&run->lock);
	return s;
}

enum sl_status sl_run(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *done, struct sl_control *control, struct sl_session *session)
{
	struct sl_run_workers run = {.w = w,
		.dir = dir,
		.done = done,
		.session = session,
		.discard = control->discard,
		.stop_rule = w->plan->stop_rule};
	enum sl_status s = run_batches(&run, control);

	if (s != SL_OK && s != SL_STOPPED)
		return s;
	if (done->n + run.commits < run.end)
		return sl_fail(SL_STOPPED,
			"stopped with %llu of %s%llu batches committed (%s), go on with --resume",
			(unsigned long long)(done->n + run.commits),
			run.stop_rule.below > 0 ? "at most " : "", (unsigned long long)run.end,
			atomic_load(&control->stop) ? "asked by a signal"
						    : "its time is nearly up");
	return SL_OK;
}

enum sl_status sl_run_trial(struct sl_workspace *w, uint32_t particles, struct sl_control *control,
	struct sl_session *session)
{
	const struct sl_manifest none = {0};
	struct sl_run_workers run = {
		.w = w, .done = &none, .session = session, .discard = true, .trial = true};

	w->recipe.particles = particles;
	w->recipe.n_batches = 1;
	return run_batches(&run, control);
}
