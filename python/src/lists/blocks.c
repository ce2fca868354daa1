/* blocks.c - see lists.h. */
#include "python/src/lists/lists.h"

#include <pthread.h>
#include <sched.h>

#include "primitives/base/clock.h"

enum { STOP_INTERVAL_NS = 50000000 };

struct blocks {
	const struct sl_py_blocks *b;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t used; /* blocks that were used; under the lock, like failed */
	bool failed;
	uint64_t asked; /* when stop() was called last */
};

unsigned sl_py_blocks_threads(size_t n)
{
	cpu_set_t set;
	size_t cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;

	cores = cores > SL_PY_THREADS_MOST ? SL_PY_THREADS_MOST : cores;
	return (unsigned)(n < 1 ? 1 : n < cores ? n : cores);
}

/* Counts a block that was used; or, after a failure, lets the threads that wait give up. */
static void tell(struct blocks *l, bool failed)
{
	pthread_mutex_lock(&l->lock);
	l->failed |= failed;
	l->used += !failed;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* Waits until block k is next; false after a failure. */
static bool wait_for(struct blocks *l, size_t k)
{
	bool failed;

	pthread_mutex_lock(&l->lock);
	while (!l->failed && l->used != k)
		pthread_cond_wait(&l->changed, &l->lock);
	failed = l->failed;
	pthread_mutex_unlock(&l->lock);
	return !failed;
}

/* Only the thread of the caller asks whether to stop: it can call the interpreter. */
static bool is_stopped(struct blocks *l, unsigned thread)
{
	if (!l->b->stop || thread > 0 || sl_now_ns() - l->asked <= STOP_INTERVAL_NS)
		return false;
	l->asked = sl_now_ns();
	return l->b->stop(l->b->ctx);
}

/* Without use(), blocks have no order. */
static enum sl_status make_and_use(void *context, uint32_t thread, uint32_t k)
{
	struct blocks *l = (struct blocks *)context;
	enum sl_status s = l->b->make(l->b->ctx, thread, k);

	if (s == SL_OK && l->b->use && wait_for(l, k)) {
		s = l->b->use(l->b->ctx, thread, k);
		if (s == SL_OK)
			tell(l, false);
	}
	if (s == SL_OK && is_stopped(l, thread))
		s = sl_fail(SL_STOPPED, "the call was interrupted");
	if (s != SL_OK)
		tell(l, true);
	return s;
}

enum sl_status sl_py_blocks_run(const struct sl_py_blocks *b)
{
	struct blocks l = {.b = b,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.asked = sl_now_ns()};
	struct sl_job_pool pool;
	enum sl_status s;

	sl_job_pool_open(&pool, b->threads - 1);
	s = sl_tasks_run(&pool, b->threads, (uint32_t)b->n, make_and_use, &l);
	sl_job_pool_close(&pool);
	return s;
}
