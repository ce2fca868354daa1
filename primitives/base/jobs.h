/*
 * jobs.h - starts threads; a pool of threads that run jobs for the thread that made the pool.
 *
 * A program that has called setlocale(), as a Python program may, can have a decimal comma. Numbers
 * are printed and read by functions of the C library that follow the locale of the thread. So the
 * library works in threads with the locale C only: in those that sl_thread_start() starts, and in
 * threads of a caller that have called sl_plain_locale().
 *
 * The caller of a pool submits jobs and waits for each of them. A job is submitted again after it
 * was waited for. Jobs start in the order in which they were submitted, urgent ones before the
 * others. Whoever waits for a job that has not started runs it, so jobs can submit jobs and wait
 * for them.
 */
#ifndef SL_PRIMITIVES_BASE_JOBS_H
#define SL_PRIMITIVES_BASE_JOBS_H

#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "primitives/base/status.h"

SL_C_BEGIN

/* --- threads ---------------------------------------------------------------------------------- */

/* Gives this thread the locale C. Returns the locale that it had, for uselocale(). */
locale_t sl_plain_locale(void);

struct sl_thread_handle {
	pthread_t id;
	void *(*body)(void *);
	void *ctx;
};

/*
 * Starts body(ctx) in a thread that the caller joins; *thread must stay where it is until then. The
 * thread has the locale C. It blocks all signals except SIGBUS, which a mapped file raises in the
 * thread that reads it, so signals reach the threads of the caller. The stack has stack_bytes,
 * independent of ulimit -s; memory is taken only for what is used. Returns 0 or an error number of
 * pthread_create(); the mask of the caller is unchanged.
 */
int sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread);

/* --- jobs ------------------------------------------------------------------------------------- */

TAILQ_HEAD(sl_job_queue, sl_job);

struct sl_job {
	enum sl_status (*run)(void *context);
	void *context;
	/* set by the functions below; under the lock of the pool while the job is pending */
	bool pending;               /* submitted, and not yet done */
	struct sl_job_queue *queue; /* NULL: it has started, or is not pending */
	TAILQ_ENTRY(sl_job) next;
	enum sl_status status;
	char message[SL_MESSAGE_BYTES]; /* of a failure */
};

enum { SL_JOB_THREADS_MOST = 64 };

struct sl_job_pool {
	pthread_mutex_t lock;
	pthread_cond_t submitted, done;
	struct sl_job_queue urgent, normal;
	bool begun, ends;
	uint32_t n;       /* threads of the pool; 0: the caller runs each job when it submits it */
	uint32_t started; /* of these */
	struct sl_thread_handle thread[SL_JOB_THREADS_MOST];
};

/*
 * Makes a pool of so many threads, at most SL_JOB_THREADS_MOST, in *p, which must stay where it is.
 * The first job starts the threads: until then the caller can start processes, which would inherit
 * locks of threads. If the system does not start a thread, the others do its part, or the caller.
 */
void sl_job_pool_open(struct sl_job_pool *p, uint32_t threads);

/* Waits for the threads, which end when no job is left. */
void sl_job_pool_close(struct sl_job_pool *p);

/* Adds a job that is not pending. It stays in place until sl_job_wait() has returned. */
void sl_job_submit(struct sl_job_pool *p, struct sl_job *job, bool urgent);

/*
 * Waits for the end of a job. Returns the status of its last run, and sets the message of this
 * thread to that of the job. SL_OK for a job that was never submitted and whose members are 0.
 */
enum sl_status sl_job_wait(struct sl_job_pool *p, struct sl_job *job);

/*
 * Ends a job whose result is not used: waits if it has started, otherwise it does not run. Keeps the
 * message of this thread.
 */
void sl_job_finish(struct sl_job_pool *p, struct sl_job *job);

/*
 * One of several tasks. No two at a time have the same worker, a number below that of workers,
 * which is at most SL_JOB_THREADS_MOST.
 */
typedef enum sl_status sl_task(void *context, uint32_t worker, uint32_t task);

/*
 * Runs tasks 0 to n - 1, which start in this order, by at most so many workers: 0 is the caller, the
 * others are jobs of the pool; NULL: there are none, as with a pool without threads. Returns the
 * status of the first task that failed, in their order; after a failure no task starts.
 */
enum sl_status sl_tasks_run(
	struct sl_job_pool *p, uint32_t workers, uint32_t n, sl_task *task, void *context);

/*
 * The same with two tasks of each number: `put` follows `make` in the same worker, in the order of
 * the numbers and one at a time, while others are made. None is put after a failure.
 */
enum sl_status sl_tasks_in_order(struct sl_job_pool *p, uint32_t workers, uint32_t n, sl_task *make,
	sl_task *put, void *context);

/*
 * The same by processes, for tasks that start processes themselves. Only their status is seen by
 * the caller, and what they write to files. No other thread may run.
 */
enum sl_status sl_tasks_fork(uint32_t workers, uint32_t n, sl_task *task, void *context);

SL_C_END

#endif
