/* jobs.c - tests that a pool runs each job once, urgent ones first, and hands over failures. */
#include "primitives/base/jobs.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/basic/check.h"

enum { JOBS = 100 };

/* A job that adds its number to a list of those that ran, and fails if its test asks for it. */
struct numbered {
	struct sl_job job;
	unsigned number;
	bool fails;
	pthread_t by;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned ran[2 * JOBS], n_ran;

static enum sl_status add_number(void *context)
{
	struct numbered *n = (struct numbered *)context;

	pthread_mutex_lock(&lock);
	ran[n_ran++] = n->number;
	pthread_mutex_unlock(&lock);
	n->by = pthread_self();
	return n->fails ? sl_fail(SL_DISK, "job %u failed", n->number) : SL_OK;
}

static void make_jobs(struct numbered job[JOBS])
{
	n_ran = 0;
	for (unsigned i = 0; i < JOBS; i++)
		job[i] = (struct numbered){
			.job = {.run = add_number, .context = &job[i]}, .number = i};
}

/* Submits all jobs, waits for them, and expects that each ran once; then the same jobs again. */
static void run_all(uint32_t threads)
{
	static struct numbered job[JOBS];
	unsigned times[JOBS] = {0};
	struct sl_job_pool pool;

	make_jobs(job);
	sl_job_pool_open(&pool, threads);
	assert_int_equal(pool.n, threads < SL_JOB_THREADS_MOST ? threads : SL_JOB_THREADS_MOST);
	for (int turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < JOBS; i++)
			sl_job_submit(&pool, &job[i].job, i % 3 == 0);
		for (unsigned i = 0; i < JOBS; i++) {
			assert_ok(sl_job_wait(&pool, &job[i].job));
			assert_int_equal(
				pthread_equal(job[i].by, pthread_self()) != 0, threads == 0);
		}
	}
	sl_job_pool_close(&pool);
	assert_int_equal(n_ran, 2 * JOBS);
	for (unsigned i = 0; i < n_ran; i++)
		times[ran[i]]++;
	for (unsigned i = 0; i < JOBS; i++)
		assert_int_equal(times[i], 2);
}

TEST(each_job_runs_once)
{
	static const uint32_t threads[] = {0, 1, 2, 7, SL_JOB_THREADS_MOST, 100};

	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		run_all(threads[i]);
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
	static struct numbered job[JOBS];
	struct sl_job_pool pool;

	make_jobs(job);
	pthread_mutex_lock(&held);
	sl_job_pool_open(&pool, 1);
	sl_job_submit(&pool, &first, true);
	for (unsigned i = 0; i < 5; i++)
		sl_job_submit(&pool, &job[i].job, i % 2 == 1);
	pthread_mutex_unlock(&held);
	for (unsigned i = 0; i < 5; i++)
		assert_ok(sl_job_wait(&pool, &job[i].job));
	assert_ok(sl_job_wait(&pool, &first));
	sl_job_pool_close(&pool);
	assert_memory_equal(ran, expected, sizeof(expected));
}

/* The message comes to the thread that waits; a job whose result is not used changes no message. */
TEST(failures_are_handed_over)
{
	static struct numbered job[JOBS];
	struct sl_job never = {.run = NULL};

	for (uint32_t threads = 0; threads < 4; threads++) {
		struct sl_job_pool pool;

		make_jobs(job);
		sl_job_pool_open(&pool, threads);
		for (unsigned i = 0; i < JOBS; i++) {
			job[i].fails = i == 7 || i == 9;
			sl_job_submit(&pool, &job[i].job, false);
		}
		for (unsigned i = 0; i < 9; i++)
			if (i != 7)
				assert_ok(sl_job_wait(&pool, &job[i].job));
		assert_fails(sl_job_wait(&pool, &job[7].job), SL_DISK, "job 7 failed");
		sl_set_last_error("mine");
		for (unsigned i = 9; i < JOBS; i++)
			sl_job_finish(&pool, &job[i].job);
		assert_ok(sl_job_wait(&pool, &never));
		assert_string_equal(sl_last_error(), "mine");
		assert_fails(sl_job_wait(&pool, &job[9].job), SL_DISK, "job 9 failed");
		sl_job_pool_close(&pool);
		assert_int_equal(n_ran, JOBS);
	}
}
