/* jobs.c - see jobs.h. */
#include "primitives/base/jobs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- threads ---------------------------------------------------------------------------------- */

/* The C library owns this locale: making it allocates nothing, and it is never freed. */
locale_t sl_plain_locale(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void *start(void *started)
{
	const struct sl_thread_handle *thread = (const struct sl_thread_handle *)started;

	(void)sl_plain_locale();
	return thread->body(thread->ctx);
}

int sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread)
{
	pthread_attr_t attributes;
	sigset_t blocked, old;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	thread->body = body;
	thread->ctx = ctx;
	/* threads inherit the mask */
	sigfillset(&blocked);
	sigdelset(&blocked, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	error = pthread_attr_setstacksize(&attributes, stack_bytes);
	if (error == 0)
		error = pthread_create(&thread->id, &attributes, start, thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

/* --- jobs ------------------------------------------------------------------------------------- */

enum { STACK_BYTES = 4 << 20 };

static void take_out(struct sl_job *job)
{
	TAILQ_REMOVE(job->queue, job, next);
	job->queue = NULL;
}

/* The next job, which leaves its queue; NULL if there is none. */
static struct sl_job *take(struct sl_job_pool *p)
{
	struct sl_job *job = TAILQ_FIRST(&p->urgent);

	job = job ? job : TAILQ_FIRST(&p->normal);
	if (job)
		take_out(job);
	return job;
}

/* Messages are per thread, so that of a failure is copied. */
static void run(struct sl_job *job)
{
	job->status = job->run(job->context);
	if (job->status != SL_OK)
		memcpy(job->message, sl_last_error(), sizeof(job->message));
}

static void *run_thread(void *context)
{
	struct sl_job_pool *p = (struct sl_job_pool *)context;
	struct sl_job *job;

	pthread_mutex_lock(&p->lock);
	while ((job = take(p)) != NULL || !p->ends) {
		if (!job) {
			pthread_cond_wait(&p->submitted, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		run(job);
		pthread_mutex_lock(&p->lock);
		job->pending = false;
		pthread_cond_broadcast(&p->done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void sl_job_pool_open(struct sl_job_pool *p, uint32_t threads)
{
	memset(p, 0, sizeof(*p));
	TAILQ_INIT(&p->urgent);
	TAILQ_INIT(&p->normal);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->submitted, NULL);
	pthread_cond_init(&p->done, NULL);
	p->n = threads < SL_JOB_THREADS_MOST ? threads : SL_JOB_THREADS_MOST;
}

static void start_threads(struct sl_job_pool *p)
{
	p->begun = true;
	while (p->started < p->n &&
		sl_thread_start(STACK_BYTES, run_thread, p, &p->thread[p->started]) == 0)
		p->started++;
}

void sl_job_pool_close(struct sl_job_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_broadcast(&p->submitted);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < p->started; i++)
		pthread_join(p->thread[i].id, NULL);
	pthread_cond_destroy(&p->done);
	pthread_cond_destroy(&p->submitted);
	pthread_mutex_destroy(&p->lock);
}

void sl_job_submit(struct sl_job_pool *p, struct sl_job *job, bool urgent)
{
	if (!p->begun)
		start_threads(p);
	if (p->started == 0) {
		run(job);
		return;
	}
	pthread_mutex_lock(&p->lock);
	job->pending = true;
	job->queue = urgent ? &p->urgent : &p->normal;
	TAILQ_INSERT_TAIL(job->queue, job, next);
	pthread_cond_signal(&p->submitted);
	pthread_mutex_unlock(&p->lock);
}

/* Takes the job out if it has not started; otherwise waits for its end. */
static bool wait_or_take(struct sl_job_pool *p, struct sl_job *job)
{
	bool taken;

	pthread_mutex_lock(&p->lock);
	taken = job->queue != NULL;
	if (taken)
		take_out(job);
	while (job->pending && !taken)
		pthread_cond_wait(&p->done, &p->lock);
	job->pending = false;
	pthread_mutex_unlock(&p->lock);
	return taken;
}

void sl_job_finish(struct sl_job_pool *p, struct sl_job *job)
{
	(void)wait_or_take(p, job);
}

enum sl_status sl_job_wait(struct sl_job_pool *p, struct sl_job *job)
{
	if (wait_or_take(p, job))
		run(job);
	if (job->status != SL_OK)
		sl_set_last_error(job->message);
	return job->status;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* Takes tasks, one after another. */
struct task_worker {
	struct sl_job job;
	struct tasks *all;
	uint32_t task; /* the one that it has taken */
};

struct tasks {
	sl_task *run;
	void *context;
	uint32_t n, next, n_workers;
	struct task_worker worker[SL_JOB_THREADS_MOST];
};

/* Takes tasks until none is left, or one fails. */
static enum sl_status take_tasks(void *context)
{
	struct task_worker *w = (struct task_worker *)context;
	struct tasks *all = w->all;
	enum sl_status s = SL_OK;

	while (s == SL_OK) {
		w->task = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED);
		if (w->task >= all->n)
			return SL_OK;
		s = all->run(all->context, (uint32_t)(w - all->worker), w->task);
	}
	__atomic_store_n(&all->next, all->n, __ATOMIC_RELAXED);
	return s;
}

/* Prepares the workers of tasks that are 0 before. */
static void begin_tasks(
	struct tasks *all, uint32_t workers, uint32_t n, sl_task *task, void *context)
{
	all->run = task;
	all->context = context;
	all->n = n;
	for (; all->n_workers < workers && all->n_workers < n; all->n_workers++) {
		struct task_worker *w = &all->worker[all->n_workers];

		w->job.run = take_tasks;
		w->job.context = w;
		w->all = all;
	}
}

/* The status of the first task that failed, whose message becomes that of this thread. */
static enum sl_status end_tasks(const struct tasks *all)
{
	const struct task_worker *first = NULL;

	for (const struct task_worker *w = all->worker; w < all->worker + all->n_workers; w++)
		if (w->job.status != SL_OK && (!first || w->task < first->task))
			first = w;
	if (!first)
		return SL_OK;
	sl_set_last_error(first->job.message);
	return first->job.status;
}

static enum sl_status run_by_jobs(
	struct sl_job_pool *p, uint32_t workers, uint32_t n, sl_task *task, void *context)
{
	struct tasks all = {.n_workers = 0};

	begin_tasks(&all, workers, n, task, context);
	for (uint32_t i = 1; i < all.n_workers; i++)
		sl_job_submit(p, &all.worker[i].job, true);
	run(&all.worker[0].job);
	for (uint32_t i = 1; i < all.n_workers; i++)
		(void)sl_job_wait(p, &all.worker[i].job);
	return end_tasks(&all);
}

enum sl_status sl_tasks_run(
	struct sl_job_pool *p, uint32_t workers, uint32_t n, sl_task *task, void *context)
{
	if (p && p->n > 0 && workers > 1 && n > 1)
		return run_by_jobs(p, workers, n, task, context);
	for (uint32_t k = 0; k < n; k++)
		SL_TRY(task(context, 0, k));
	return SL_OK;
}

/* Tasks of which each is put after those before it. */
struct ordered_tasks {
	sl_task *make, *put;
	void *context;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	uint32_t next; /* the task that is put next */
	bool failed;   /* one before it */
};

/*
 * Makes a task, and puts it when its turn comes. Tasks start in order, so those before this one are
 * being made or were put.
 */
static enum sl_status make_and_put(void *context, uint32_t worker, uint32_t t)
{
	struct ordered_tasks *r = (struct ordered_tasks *)context;
	enum sl_status s = r->make(r->context, worker, t);

	pthread_mutex_lock(&r->lock);
	while (r->next != t)
		pthread_cond_wait(&r->turn, &r->lock);
	pthread_mutex_unlock(&r->lock);
	if (s == SL_OK && !r->failed)
		s = r->put(r->context, worker, t);
	pthread_mutex_lock(&r->lock);
	r->failed = r->failed || s != SL_OK;
	r->next++;
	pthread_cond_broadcast(&r->turn);
	pthread_mutex_unlock(&r->lock);
	return s;
}

enum sl_status sl_tasks_in_order(struct sl_job_pool *p, uint32_t workers, uint32_t n, sl_task *make,
	sl_task *put, void *context)
{
	struct ordered_tasks r = {.make = make,
		.put = put,
		.context = context,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.turn = PTHREAD_COND_INITIALIZER};

	return sl_tasks_run(p, workers, n, make_and_put, &r);
}

/* Starts the process of a worker. If there is none (-1), this process takes its tasks. */
static pid_t fork_worker(struct task_worker *w)
{
	pid_t process;

	w->job.status = SL_HOST_MEMORY; /* until it ends */
	strcpy(w->job.message, "host memory: the system stopped a process of this program; close "
			       "other programs");
	process = fork();
	if (process > 0)
		return process;
	if (process == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(&w->job);
	if (process == 0)
		_exit(0);
	return process;
}

enum sl_status sl_tasks_fork(uint32_t workers, uint32_t n, sl_task *task, void *context)
{
	pid_t process[SL_JOB_THREADS_MOST];
	struct tasks *all;
	enum sl_status s;

	if (workers <= 1)
		return sl_tasks_run(NULL, 1, n, task, context);
	all = (struct tasks *)mmap(
		NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return sl_fail(SL_HOST_MEMORY, "host memory: %zu bytes requested", sizeof(*all));
	begin_tasks(all, workers, n, task, context);
	for (uint32_t i = 0; i < all->n_workers; i++)
		process[i] = fork_worker(&all->worker[i]);
	for (uint32_t i = 0; i < all->n_workers; i++)
		while (process[i] > 0 && waitpid(process[i], NULL, 0) < 0 && errno == EINTR)
			;
	s = end_tasks(all);
	munmap(all, sizeof(*all));
	return s;
}
