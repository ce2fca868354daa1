/*
 * jobs.c - tests that a pool runs each job once, urgent ones first, and hands over failures, and
 * that a started thread leaves signals to the caller and has the stack that it was given.
 */
#include "primitives/base/jobs.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "tests/support/basic/check.h"

enum { STACK_BYTES = 1 << 20 };

static size_t stack_bytes;

static void *look(void *blocked)
{
	pthread_attr_t attributes;

	pthread_sigmask(SIG_SETMASK, NULL, (sigset_t *)blocked);
	if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getstacksize(&attributes, &stack_bytes);
		pthread_attr_destroy(&attributes);
	}
	return NULL;
}

/* The first test: glibc gives a thread the larger stack of one that has ended. */
TEST(threads_leave_signals_to_the_caller)
{
	sigset_t before, after, blocked;
	struct sl_thread_handle thread;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sl_thread_start(STACK_BYTES, look, &blocked, &thread), 0);
	pthread_join(thread.id, NULL);
	assert_int_equal(sl_thread_start(1, look, &blocked, &thread), EINVAL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_true(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM));
	assert_false(sigismember(&blocked, SIGBUS));
	assert_true(!sigismember(&after, SIGINT) && sigismember(&after, SIGUSR1));
	assert_int_equal(stack_bytes, STACK_BYTES);
}

/* --- jobs ------------------------------------------------------------------------------------- */

enum { JOBS = 100 };

/* A job that adds its number to a list of those that ran. Jobs 7 and 9 of some tests fail. */
struct numbered {
	struct sl_job job;
	unsigned number;
	bool fails;
	pthread_t by;
};

static struct numbered job[JOBS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned ran[JOBS], n_ran;

static enum sl_status add_number(void *context)
{
	struct numbered *n = (struct numbered *)context;

	pthread_mutex_lock(&lock);
	ran[n_ran++] = n->number;
	pthread_mutex_unlock(&lock);
	n->by = pthread_self();
	return n->fails ? sl_fail(SL_DISK, "job %u failed", n->number) : SL_OK;
}

static void make_jobs(bool fail)
{
	n_ran = 0;
	for (unsigned i = 0; i < JOBS; i++)
		job[i] = (struct numbered){.job = {.run = add_number, .context = &job[i]},
			.number = i,
			.fails = fail && (i == 7 || i == 9)};
}

/* Submits all jobs, waits for them, and does the same again. */
TEST(each_job_runs_once)
{
	static const uint32_t threads[] = {0, 1, 2, 7, SL_JOB_THREADS_MOST, 100};

	for (size_t k = 0; k < sizeof(threads) / sizeof(*threads); k++) {
		unsigned times[JOBS] = {0};
		struct sl_job_pool pool;

		sl_job_pool_open(&pool, threads[k]);
		assert_int_equal(pool.n, k < 5 ? threads[k] : SL_JOB_THREADS_MOST);
		make_jobs(false);
		for (int turn = 0; turn < 2; turn++) {
			n_ran = 0;
			for (unsigned i = 0; i < JOBS; i++)
				sl_job_submit(&pool, &job[i].job, i % 3 == 0);
			for (unsigned i = 0; i < JOBS; i++) {
				assert_ok(sl_job_wait(&pool, &job[i].job));
				assert_true(
					threads[k] > 0 || pthread_equal(job[i].by, pthread_self()));
			}
			assert_int_equal(n_ran, JOBS);
			for (unsigned i = 0; i < JOBS; i++)
				times[ran[i]]++;
		}
		sl_job_pool_close(&pool);
		for (unsigned i = 0; i < JOBS; i++)
			assert_int_equal(times[i], 2);
	}
}

/* Holds up a thread of a pool until it is released. */
static enum sl_status wait_for_release(void *context)
{
	pthread_mutex_lock((pthread_mutex_t *)context);
	pthread_mutex_unlock((pthread_mutex_t *)context);
	return SL_OK;
}

TEST(urgent_jobs_come_first)
{
	static const unsigned expected[] = {1, 3, 0, 2, 4};
	pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	struct sl_job first = {.run = wait_for_release, .context = &held};
	struct sl_job_pool pool;

	make_jobs(false);
	pthread_mutex_lock(&held);
	sl_job_pool_open(&pool, 1);
	sl_job_submit(&pool, &first, true);
	for (unsigned i = 0; i < 5; i++)
		sl_job_submit(&pool, &job[i].job, i % 2 == 1);
	pthread_mutex_unlock(&held);
	/* Whoever waits for a job that has not started runs it. */
	for (unsigned n = 0; n < 5; sched_yield()) {
		pthread_mutex_lock(&lock);
		n = n_ran;
		pthread_mutex_unlock(&lock);
	}
	assert_ok(sl_job_wait(&pool, &first));
	sl_job_pool_close(&pool);
	assert_memory_equal(ran, expected, sizeof(expected));
}

/* A job of a pool of one thread submits others and waits for them. */
static enum sl_status wait_for_others(void *pool)
{
	for (unsigned i = 0; i < 5; i++)
		sl_job_submit((struct sl_job_pool *)pool, &job[i].job, false);
	for (unsigned i = 5; i-- > 0;)
		SL_TRY(sl_job_wait((struct sl_job_pool *)pool, &job[i].job));
	return SL_OK;
}

TEST(jobs_wait_for_jobs)
{
	struct sl_job_pool pool;
	struct sl_job first = {.run = wait_for_others, .context = &pool};

	make_jobs(false);
	sl_job_pool_open(&pool, 1);
	sl_job_submit(&pool, &first, false);
	assert_ok(sl_job_wait(&pool, &first));
	sl_job_pool_close(&pool);
	assert_int_equal(n_ran, 5);
}

/* The message comes to the thread that waits; a job whose result is not used changes no message. */
TEST(failures_are_handed_over)
{
	struct sl_job never = {.run = NULL};

	for (uint32_t threads = 0; threads < 4; threads++) {
		struct sl_job_pool pool;

		make_jobs(true);
		sl_job_pool_open(&pool, threads);
		for (unsigned i = 0; i < JOBS; i++)
			sl_job_submit(&pool, &job[i].job, false);
		assert_ok(sl_job_wait(&pool, &job[8].job));
		assert_fails(sl_job_wait(&pool, &job[7].job), SL_DISK, "job 7 failed");
		assert_fails(sl_job_wait(&pool, &job[9].job), SL_DISK, "job 9 failed");
		sl_set_last_error("mine");
		for (unsigned i = 0; i < JOBS; i++)
			sl_job_finish(&pool, &job[i].job);
		assert_ok(sl_job_wait(&pool, &never));
		assert_string_equal(sl_last_error(), "mine");
		sl_job_pool_close(&pool);
		assert_true(n_ran >= 3 && n_ran <= JOBS);
	}
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* What tasks do: they count, in memory that processes share, and some fail. */
struct counted {
	unsigned times[JOBS];
	bool fails, dies, forks;
	pthread_t caller;
};

static enum sl_status count(void *context, uint32_t worker, uint32_t task)
{
	struct counted *c = (struct counted *)context;

	if (worker >= 3 || (!c->forks && (worker == 0) != pthread_equal(c->caller, pthread_self())))
		return sl_fail(SL_INTERNAL, "task %u has a wrong worker", task);
	__atomic_fetch_add(&c->times[task], 1, __ATOMIC_RELAXED);
	if (c->dies && task == 7)
		raise(SIGKILL);
	return c->fails && (task == 7 || task == 9) ? sl_fail(SL_DISK, "task %u failed", task)
	                                            : SL_OK;
}

static enum sl_status run_tasks(struct sl_job_pool *pool, bool forks, struct counted *c)
{
	return forks ? sl_tasks_fork(3, JOBS, count, c) : sl_tasks_run(pool, 3, JOBS, count, c);
}

TEST(tasks_run_once_by_threads_and_processes)
{
	struct counted *c = (struct counted *)mmap(
		NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (uint32_t k = 0; k < 4; k++) {
		struct sl_job_pool pool;

		*c = (struct counted){.forks = k == 3, .caller = pthread_self()};
		sl_job_pool_open(&pool, k);
		assert_ok(run_tasks(&pool, k == 3, c));
		for (unsigned i = 0; i < JOBS; i++)
			assert_int_equal(c->times[i], 1);
		c->fails = true;
		assert_fails(run_tasks(&pool, k == 3, c), SL_DISK, "task 7 failed");
		sl_job_pool_close(&pool);
	}
	c->dies = true;
	assert_fails(run_tasks(NULL, true, c), SL_HOST_MEMORY, "the system stopped a process");
	munmap(c, sizeof(*c));
}
