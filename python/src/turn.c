/* turn.c - see turn.h. */
#include "python/src/turn.h"

#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool taken, closed; /* closed: the interpreter ends, and no job starts */
static pthread_t owner;
static atomic_int *owner_stop;

/* The interval between looks at the flag of a waiting job, in nanoseconds. */
enum { INTERVAL_NS = 50000000 };

bool sl_py_turn_is_mine(void)
{
	bool mine;

	pthread_mutex_lock(&lock);
	mine = taken && pthread_equal(owner, pthread_self());
	pthread_mutex_unlock(&lock);
	return mine;
}

static void wait_a_moment(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += INTERVAL_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&changed, &lock, &until);
}

bool sl_py_turn_take(pthread_t opener, atomic_int *stop)
{
	bool mine;

	pthread_mutex_lock(&lock);
	while (taken && !closed && atomic_load(stop) == 0)
		wait_a_moment();
	mine = !taken && !closed && atomic_load(stop) == 0;
	if (mine) {
		taken = true;
		owner = opener;
		owner_stop = stop;
	}
	pthread_mutex_unlock(&lock);
	return mine;
}

void sl_py_turn_end(void)
{
	pthread_mutex_lock(&lock);
	taken = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void sl_py_turn_stop(int stop)
{
	pthread_mutex_lock(&lock);
	closed = true;
	if (taken)
		atomic_store(owner_stop, stop);
	pthread_cond_broadcast(&changed);
	while (taken)
		wait_a_moment();
	pthread_mutex_unlock(&lock);
}

void sl_py_turn_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&changed, NULL);
	taken = false;
}
