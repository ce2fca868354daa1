/*
 * driver.c - the driver of the emulated devices: facts, memory, and calls of queue.c under a lock.
 *
 * One lock protects all devices, their memory (memory.c) and their queued work (queue.c). Each
 * thread has a current device, as with CUDA.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/base/size.h"
#include "primitives/device/device_driver.h"
#include "primitives/emulator/emulator.h"
#include "settings.h"
#include "thread.h"

enum { MULTIPROCESSORS = 4 };

/* 7.5 is Turing, 9.0 is Hopper. */
uint32_t sl_emulated_capability(void)
{
	return sl_emulator_get_settings()->turing ? 75 : 90;
}

static size_t shared_most(void)
{
	return (size_t)(sl_emulator_get_settings()->turing ? 64 : 227) << 10;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local int current; /* the device of the calling thread */

/* --- queued work ------------------------------------------------------------------------------ */

int sl_emulated_queue(
	const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes, sl_stream s)
{
	int error;

	if (l->blocks == 0 || l->threads == 0 || l->threads > SL_BLOCK_MAX ||
		l->shared_bytes > shared_most())
		return SL_ERROR_VALUE;
	pthread_mutex_lock(&lock);
	error = sl_emulated_queue_launch(l, closure, closure_bytes, s, current);
	pthread_mutex_unlock(&lock);
	return error;
}

/* Defines a function of the driver: the call, under the lock. */
#define LOCKED(type, name, parameters, call) \
	static type name parameters          \
	{                                    \
		type result;                 \
                                             \
		pthread_mutex_lock(&lock);   \
		result = call;               \
		pthread_mutex_unlock(&lock); \
		return result;               \
	}

LOCKED(int, copy, (void *to, const void *from, size_t bytes, sl_stream s),
	sl_emulated_queue_copy(to, from, bytes, s, current))
LOCKED(int, fill, (void *to, int value, size_t bytes, sl_stream s),
	sl_emulated_queue_fill(to, value, bytes, s, current))
LOCKED(int, stream_make, (sl_stream * s), sl_emulated_stream_make(s, current))
LOCKED(int, stream_wait, (sl_stream s), sl_emulated_stream_wait(s, current))
LOCKED(int, stream_join, (sl_stream s), sl_emulated_stream_join(s, current))
LOCKED(uint64_t, stream_number, (sl_stream s), sl_emulated_stream_number(s, current))
LOCKED(int, event_record, (sl_event e, sl_stream s), sl_emulated_event_record(e, s, current))
LOCKED(int, event_wait, (sl_event e), sl_emulated_event_wait(e))
LOCKED(int, event_ms, (sl_event from, sl_event to, float *ms), sl_emulated_event_ms(from, to, ms))
LOCKED(int, capture_begin, (sl_stream s), sl_emulated_capture_begin(s))
LOCKED(int, capture_end, (sl_stream s, sl_graph *g), sl_emulated_capture_end(s, g))
LOCKED(int, graph_queue, (sl_graph g, sl_stream s), sl_emulated_graph_queue(g, s, current))
LOCKED(int, device_get, (size_t bytes, void **p), sl_emulated_memory_get(current, bytes, p))
LOCKED(bool, on_device, (const void *p), sl_emulated_memory_has(p))

/* The work before the event runs at once, as in stream_join(). */
static int stream_follow(sl_stream s, sl_event e)
{
	(void)s;
	return event_wait(e);
}

static void stream_free(sl_stream s)
{
	pthread_mutex_lock(&lock);
	sl_emulated_stream_free(s);
	pthread_mutex_unlock(&lock);
}

static void event_free(sl_event e)
{
	pthread_mutex_lock(&lock);
	sl_emulated_event_free(e);
	pthread_mutex_unlock(&lock);
}

/* --- the devices ------------------------------------------------------------------------------ */

static int count(int *n)
{
	*n = SL_DEVICES_MAX;
	return 0;
}

static void versions(int *driver, int *runtime)
{
	*driver = *runtime = 0;
}

static int use(int number, struct sl_device *device)
{
	current = number;
	if (!device)
		return 0;
	device->number = number;
	snprintf(device->name, sizeof(device->name), "emulated");
	device->major = (int)sl_emulated_capability() / 10;
	device->minor = (int)sl_emulated_capability() % 10;
	device->multiprocessors = MULTIPROCESSORS;
	device->memory_bytes = sl_emulator_get_settings()->memory_bytes;
	device->free_bytes = sl_emulated_memory_free(number);
	return 0;
}

static int current_device(int *number)
{
	*number = current;
	return 0;
}

static int limits(struct sl_limits *l)
{
	l->multiprocessors = MULTIPROCESSORS;
	l->block_threads = SL_BLOCK_MAX;
	l->shared_bytes = shared_most();
	return 0;
}

/* Pinned memory is ordinary memory here: the host may touch it at any time, as with CUDA. */
static int get(enum sl_space space, size_t bytes, void **p)
{
	if (space != SL_PINNED)
		return device_get(bytes, p);
	*p = bytes <= PTRDIFF_MAX ? aligned_alloc(256, sl_round_up(bytes, 256)) : NULL;
	return *p ? 0 : SL_ERROR_MEMORY;
}

/*
 * Waits for all work of all devices first: cudaFree and cudaFreeHost wait for that of the current
 * one.
 */
static void give(enum sl_space space, void *p)
{
	pthread_mutex_lock(&lock);
	sl_emulated_streams_drain();
	if (space == SL_PINNED)
		free(p);
	else
		sl_emulated_memory_give(p);
	pthread_mutex_unlock(&lock);
}

static size_t free_bytes(void)
{
	return sl_emulated_memory_free(current);
}

static const char *error_text(int error)
{
	switch (error) {
	case SL_ERROR_MEMORY:
		return "out of memory";
	case SL_ERROR_LAUNCH:
		return sl_emulated_problem()[0] ? sl_emulated_problem() : "a launch failed";
	case SL_ERROR_VALUE:
		return "an argument is not valid";
	case SL_ERROR_HANDLE:
		return "the stream belongs to another device";
	case SL_ERROR_ADDRESS:
		return "an illegal address";
	case SL_ERROR_CAPTURED:
		return "not while a stream is captured";
	default:
		return "an error of the emulated device";
	}
}

const struct sl_driver sl_driver_emulated = {
	.name = "emulated",
	.count = count,
	.versions = versions,
	.use = use,
	.current = current_device,
	.limits = limits,
	.get = get,
	.give = give,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.stream_make = stream_make,
	.stream_free = stream_free,
	.stream_wait = stream_wait,
	.stream_join = stream_join,
	.stream_follow = stream_follow,
	.stream_number = stream_number,
	.event_make = sl_emulated_event_make,
	.event_free = event_free,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_ms = event_ms,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_queue = graph_queue,
	.graph_free = sl_emulated_graph_free,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
	.settings_problem = sl_emulator_settings_problem,
};
