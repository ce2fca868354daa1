/* turn.c - see base.h. */
#include "python/src/base/base.h"

#include "pipeline/run/run.h"
#include "primitives/base/clock.h"
#include "primitives/device/device.h"

static pthread_mutex_t lock;
static pthread_cond_t changed;
static bool taken, closed; /* closed: the interpreter ends, and no job starts */
static pthread_t owner;
static atomic_int *owner_stop;
static uint64_t
	idle_since_ns; /* the job whose turn it is waits for its loop since then; 0: it computes */
static enum { EXCLUSIVE, UNSETTLED, ON_CUDA, ON_EMULATED } kind; /* of the job whose turn it is */

/* Calls that work, all on one kind of device; the kind of the process before the first of them. */
static unsigned sharers;
static bool shared_emulated, emulated_before;

/* The interval between looks at the flag of a waiting job, in nanoseconds. */
enum { INTERVAL_NS = 50000000 };

/*
 * After this time without work of the other job, its loop is assumed to wait for the call that
 * waits.
 */
enum { IDLE_SECONDS = 10 };

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
	sl_change_wait(&changed, &lock, INTERVAL_NS);
}

void sl_py_turn_idle(bool idle)
{
	pthread_mutex_lock(&lock);
	idle_since_ns = idle ? sl_now_ns() : 0;
	pthread_mutex_unlock(&lock);
}

/* Has the job whose turn it is waited too long for its loop? Called with the lock held. */
static bool is_left(void)
{
	return taken && idle_since_ns != 0 &&
	       sl_now_ns() - idle_since_ns > IDLE_SECONDS * UINT64_C(1000000000);
}

static enum sl_status fail_left(void)
{
	return sl_fail(SL_USAGE,
		"another thread has an open stream whose loop has taken no batch for %d s, and may wait "
		"for this call; finish the stream or close() it first, or use a process for each run",
		IDLE_SECONDS);
}

enum sl_status sl_py_turn_take(pthread_t opener, bool shares, atomic_int *stop)
{
	enum sl_status s = SL_OK;

	pthread_mutex_lock(&lock);
	while ((taken || sharers > 0) && !closed && atomic_load(stop) == 0 && !is_left())
		wait_a_moment();
	if (closed || atomic_load(stop) != 0) {
		s = sl_fail(SL_STOPPED, "the call was interrupted");
	} else if (is_left()) {
		s = fail_left();
	} else {
		taken = true;
		idle_since_ns = 0;
		kind = shares ? UNSETTLED : EXCLUSIVE;
		owner = opener;
		owner_stop = stop;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

void sl_py_turn_end(bool emulated)
{
	pthread_mutex_lock(&lock);
	if (sharers > 0)
		emulated_before = emulated;
	else if (sl_device_is_emulated() != emulated)
		sl_device_emulate(emulated);
	taken = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void sl_py_turn_settle(bool emulated)
{
	pthread_mutex_lock(&lock);
	kind = emulated ? ON_EMULATED : ON_CUDA;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* Must a call wait? Called with the lock held. */
static bool is_busy(bool emulated)
{
	return (taken && kind != (emulated ? ON_EMULATED : ON_CUDA)) ||
	       (sharers > 0 && shared_emulated != emulated);
}

/* Waiting for a job that this thread has started would never end, if the job does not share. */
static bool is_endless(bool emulated)
{
	return taken && kind != UNSETTLED && kind != (emulated ? ON_EMULATED : ON_CUDA) &&
	       pthread_equal(owner, pthread_self());
}

static enum sl_status begin_sharing(bool emulated)
{
	enum sl_status s = SL_OK;

	pthread_mutex_lock(&lock);
	while (is_busy(emulated) && !is_endless(emulated) && !closed && !is_left())
		wait_a_moment();
	if (closed) {
		s = sl_fail(SL_STOPPED, "the interpreter ends");
	} else if (is_endless(emulated)) {
		s = sl_fail(SL_USAGE,
			"this thread has a run in progress, such as an open stream; finish it or "
			"close() it before a call on a device, or let its survivors stay on that "
			"device (arrays='device')");
	} else if (is_busy(emulated)) {
		s = fail_left();
	} else if (sharers++ == 0) {
		shared_emulated = emulated;
		emulated_before = sl_device_is_emulated();
		if (emulated_before != emulated)
			sl_device_emulate(emulated);
	}
	pthread_mutex_unlock(&lock);
	return s;
}

static void end_sharing(void)
{
	pthread_mutex_lock(&lock);
	if (--sharers == 0 && sl_device_is_emulated() != emulated_before)
		sl_device_emulate(emulated_before);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

enum sl_status sl_py_on_device(
	bool emulated, int number, enum sl_status (*work)(void *ctx), void *ctx)
{
	enum sl_status s;
	int before;

	SL_TRY(begin_sharing(emulated));
	s = sl_device_select(number, &before);
	if (s == SL_OK) {
		s = work(ctx);
		sl_device_restore(before);
	}
	end_sharing();
	return s;
}

void sl_py_turn_stop(int stop)
{
	pthread_mutex_lock(&lock);
	closed = true;
	if (taken)
		atomic_store(owner_stop, stop);
	pthread_cond_broadcast(&changed);
	while (taken || sharers > 0)
		wait_a_moment();
	pthread_mutex_unlock(&lock);
}

void sl_py_turn_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	sl_change_init(&changed);
	taken = false;
	sharers = 0;
}
