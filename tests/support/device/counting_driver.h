/*
 * counting_driver.h - a driver that wraps the emulated device's: it counts the calls or makes one
 * return an error.
 *
 * The line of such a test in tests.def wraps sl_driver_emulated, sl_emulated_queue (which receives
 * kernel launches) and sl_fault at link time. allocations() does not count host allocations of the
 * emulated device itself, such as the shared memory of blocks.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_COUNTING_DRIVER_H
#define SL_TESTS_SUPPORT_DEVICE_COUNTING_DRIVER_H

#include <stdatomic.h>

#include "primitives/device/device_driver.h"

/*
 * Calls that can return an error: name, parameters, arguments. The results of the first two can be
 * replaced.
 */
#define COUNTED_ANSWERS(X)      \
	X(count, (int *n), (n)) \
	X(use, (int number, struct sl_device *d), (number, d))
#define COUNTED_CALLS(X)                                                                       \
	X(limits, (struct sl_limits * l), (l))                                                 \
	X(get, (enum sl_space space, size_t bytes, void **p), (space, bytes, p))               \
	X(stream_make, (sl_stream * s), (s))                                                   \
	X(stream_wait, (sl_stream s), (s))                                                     \
	X(event_make, (sl_event * e), (e))                                                     \
	X(event_record, (sl_event e, sl_stream s), (e, s))                                     \
	X(event_wait, (sl_event e), (e))                                                       \
	X(event_ms, (sl_event from, sl_event to, float *ms), (from, to, ms))                   \
	X(capture_begin, (sl_stream s), (s))                                                   \
	X(capture_end, (sl_stream s, sl_graph * g), (s, g))                                    \
	X(graph_queue, (sl_graph g, sl_stream s), (g, s))                                      \
	X(copy, (void *to, const void *from, size_t bytes, sl_stream s), (to, from, bytes, s)) \
	X(fill, (void *to, int value, size_t bytes, sl_stream s), (to, value, bytes, s))

/* Calls that cannot return an error. */
#define COUNTED_QUIET_CALLS(X)                              \
	X(give, (enum sl_space space, void *p), (space, p)) \
	X(stream_free, (sl_stream s), (s))                  \
	X(event_free, (sl_event e), (e))                    \
	X(graph_free, (sl_graph g), (g))

enum counted_call {
#define X(name, parameters, arguments) CALL_##name,
	COUNTED_ANSWERS(X) COUNTED_CALLS(X) COUNTED_QUIET_CALLS(X)
#undef X
		CALL_launch,
	N_CALLS
};

/* In memory shared with child processes, because a permanent device failure ends the process. */
struct counting {
	atomic_uint calls[N_CALLS];
	atomic_uint all;   /* calls that can fail */
	unsigned fail_at;  /* number of the call that fails; 0: none */
	int error;         /* the error that it returns */
	atomic_int failed; /* a permanent device failure has happened */
	atomic_uint after; /* calls after the failure */
};
extern struct counting *counting;

/* What the driver returns instead of the results of the emulated device. */
struct driver_answers {
	int count; /* error of the call that counts devices; 0: no change */
	int driver,
		runtime;  /* CUDA versions, 1000 * major + 10 * minor; driver 0: none is loaded */
	int use;          /* error of the call that selects a device; 0: no change */
	int major, minor; /* compute capability of device 0, if use is not 0 */
};
extern struct driver_answers driver_answers;

/* Setup of the group (selects the emulated device) and of each test (resets counts, faults and
 * driver_answers). */
void counting_begin(void);
void counting_clear(void);

#endif
