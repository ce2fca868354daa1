/* blocks.c - see lists.h. */
#include "python/src/lists/lists.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/base/threads.h"

enum { STOP_INTERVAL_NS = 50000000, STACK_BYTES = 4 << 20 };

struct loop {
	const struct sl_py_blocks *b;
	atomic_size_t next;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t used; /* blocks that were used; under the lock, like the following */
	bool failed;
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
};

struct worker {
	struct loop *loop;
	unsigned number;
	struct sl_thread_handle thread;
};

unsigned sl_py_blocks_threads(size_t n)
{
	cpu_set_t set;
	size_t cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;

	cores = cores > SL_PY_THREADS_MOST ? SL_PY_THREADS_MOST : cores;
	return (unsigned)(n < 1 ? 1 : n < cores ? n : cores);
}

/* Keeps the first failure, and wakes the threads that wait. */
static void fail(struct loop *l, enum sl_status s)
{
	pthread_mutex_lock(&l->lock);
	if (!l->failed) {
		l->failed = true;
		l->status = s;
		memcpy(l->message, sl_last_error(), sizeof(l->message));
	}
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* Waits until block k is next; false after a failure. */
static bool wait_for(struct loop *l, size_t k)
{
	bool failed;

	pthread_mutex_lock(&l->lock);
	while (!l->failed && l->used != k)
		pthread_cond_wait(&l->changed, &l->lock);
	failed = l->failed;
	pthread_mutex_unlock(&l->lock);
	return !failed;
}

/* Without use(), blocks have no order, and used counts nothing. */
static enum sl_status use(struct loop *l, unsigned thread, size_t k)
{
	if (!l->b->use || !wait_for(l, k))
		return SL_OK;
	SL_TRY(l->b->use(l->b->ctx, thread, k));
	pthread_mutex_lock(&l->lock);
	l->used++;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return SL_OK;
}

static bool has_failed(struct loop *l)
{
	bool failed;

	pthread_mutex_lock(&l->lock);
	failed = l->failed;
	pthread_mutex_unlock(&l->lock);
	return failed;
}

/* Only the thread of the caller asks whether to stop: it can call the interpreter. */
static void work(struct loop *l, unsigned thread)
{
	const struct sl_py_blocks *b = l->b;
	uint64_t asked = sl_now_ns();
	size_t k;

	while (!has_failed(l) && (k = atomic_fetch_add(&l->next, 1)) < b->n) {
		enum sl_status s = b->make(b->ctx, thread, k);

		s = s == SL_OK ? use(l, thread, k) : s;
		if (s == SL_OK && b->stop && thread == 0 &&
			sl_now_ns() - asked > STOP_INTERVAL_NS) {
			asked = sl_now_ns();
			s = b->stop(b->ctx) ? sl_fail(SL_STOPPED, "the call was interrupted")
			                    : SL_OK;
		}
		if (s != SL_OK)
			fail(l, s);
	}
}

static void *run_worker(void *ctx)
{
	struct worker *w = (struct worker *)ctx;

	work(w->loop, w->number);
	return NULL;
}

/* If a thread cannot be started, the others do its part. */
static unsigned start_workers(struct loop *l, struct worker *w, unsigned n)
{
	unsigned started = 1;

	for (; started < n; started++) {
		w[started] = (struct worker){.loop = l, .number = started};
		if (sl_thread_start(STACK_BYTES, run_worker, &w[started], &w[started].thread) != 0)
			break;
	}
	return started;
}

enum sl_status sl_py_blocks_run(const struct sl_py_blocks *b)
{
	struct loop l = {
		.b = b, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct worker w[SL_PY_THREADS_MOST];
	unsigned started = start_workers(&l, w, b->threads);

	work(&l, 0);
	for (unsigned i = 1; i < started; i++)
		pthread_join(w[i].thread.id, NULL);
	if (l.failed)
		sl_set_last_error(l.message);
	return l.failed ? l.status : SL_OK;
}
