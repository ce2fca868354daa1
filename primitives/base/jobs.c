/* jobs.c - see jobs.h. */
#include "primitives/base/jobs.h"

#include <string.h>

enum { STACK_BYTES = 4 << 20 };

static void append(struct sl_job_queue *q, struct sl_job *job)
{
	job->next = NULL;
	if (q->first)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

/* The next job, which leaves its queue; NULL if there is none. */
static struct sl_job *take(struct sl_job_pool *p)
{
	struct sl_job_queue *q = p->urgent.first ? &p->urgent : &p->normal;
	struct sl_job *job = q->first;

	if (job)
		q->first = job->next;
	return job;
}

/* Takes a job that has not started out of a queue; false if it is not there. */
static bool take_out(struct sl_job_queue *q, struct sl_job *job)
{
	struct sl_job *before = NULL;

	for (struct sl_job *at = q->first; at; before = at, at = at->next) {
		if (at != job)
			continue;
		if (before)
			before->next = job->next;
		else
			q->first = job->next;
		q->last = q->last == job ? before : q->last;
		return true;
	}
	return false;
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
	append(urgent ? &p->urgent : &p->normal, job);
	pthread_cond_signal(&p->submitted);
	pthread_mutex_unlock(&p->lock);
}

/* Takes the job out if it has not started; otherwise waits for its end. */
static bool wait_or_take(struct sl_job_pool *p, struct sl_job *job)
{
	bool taken;

	pthread_mutex_lock(&p->lock);
	taken = job->pending && (take_out(&p->urgent, job) || take_out(&p->normal, job));
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

/* --- loops ------------------------------------------------------------------------------------ */

struct loop {
	sl_job_task *task;
	void *context;
	uint32_t n, next;
	bool failed;
};

/* Runs tasks in a thread. */
struct worker {
	struct sl_job job;
	struct loop *loop;
	uint32_t number, failed; /* its own; that of the task that failed */
};

static enum sl_status run_tasks(void *context)
{
	struct worker *w = (struct worker *)context;
	struct loop *l = w->loop;
	enum sl_status s = SL_OK;

	while (s == SL_OK && !__atomic_load_n(&l->failed, __ATOMIC_RELAXED)) {
		w->failed = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
		if (w->failed >= l->n)
			return SL_OK;
		s = l->task(l->context, w->number, w->failed);
	}
	if (s != SL_OK)
		__atomic_store_n(&l->failed, true, __ATOMIC_RELAXED);
	return s;
}

enum sl_status sl_job_each(struct sl_job_pool *p, uint32_t n, sl_job_task *task, void *context)
{
	struct loop loop = {.task = task, .context = context, .n = n};
	struct worker worker[SL_JOB_THREADS_MOST + 1], *first = NULL;
	const uint32_t most = p ? p->n + 1 : 1, workers = n < most ? n : most;

	for (uint32_t i = workers; i-- > 0;) {
		struct worker *w = &worker[i];

		*w = (struct worker){
			.job = {.run = run_tasks, .context = w}, .loop = &loop, .number = i};
		if (i > 0)
			sl_job_submit(p, &w->job, true);
		else
			run(&w->job);
	}
	for (uint32_t i = 0; i < workers; i++) {
		struct worker *w = &worker[i];

		if ((i > 0 ? sl_job_wait(p, &w->job) : w->job.status) != SL_OK &&
			(!first || w->failed < first->failed))
			first = w;
	}
	if (first)
		sl_set_last_error(first->job.message);
	return first ? first->job.status : SL_OK;
}
