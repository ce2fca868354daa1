/* driver.c - the driver of the emulated devices: facts and memory; queue.c has the queued work. */
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

size_t sl_emulated_shared_most(void)
{
	return (size_t)(sl_emulator_get_settings()->turing ? 64 : 227) << 10;
}

/* The work before the event runs at once, as in stream_join(). */
static int stream_follow(sl_stream s, sl_event e)
{
	(void)s;
	return sl_emulated_event_wait(e);
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
	sl_emulated_current = number;
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
	*number = sl_emulated_current;
	return 0;
}

static int limits(struct sl_limits *l)
{
	l->multiprocessors = MULTIPROCESSORS;
	l->block_threads = SL_BLOCK_MAX;
	l->shared_bytes = sl_emulated_shared_most();
	return 0;
}

/* Pinned memory is ordinary memory here: the host may touch it at any time, as with CUDA. */
static int get(enum sl_space space, size_t bytes, void **p)
{
	SL_EMULATED_LOCKED;

	if (space != SL_PINNED)
		return sl_emulated_memory_get(sl_emulated_current, bytes, p);
	*p = bytes <= PTRDIFF_MAX ? aligned_alloc(256, sl_round_up(bytes, 256)) : NULL;
	return *p ? 0 : SL_ERROR_MEMORY;
}

/*
 * Waits for all work of all devices first: cudaFree and cudaFreeHost wait for that of the current
 * one.
 */
static void give(enum sl_space space, void *p)
{
	SL_EMULATED_LOCKED;

	sl_emulated_streams_drain();
	if (space == SL_PINNED)
		free(p);
	else
		sl_emulated_memory_give(p);
}

static bool on_device(const void *p)
{
	SL_EMULATED_LOCKED;

	return sl_emulated_memory_has(p);
}

static size_t free_bytes(void)
{
	return sl_emulated_memory_free(sl_emulated_current);
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
	.stream_make = sl_emulated_stream_make,
	.stream_free = sl_emulated_stream_free,
	.stream_wait = sl_emulated_stream_wait,
	.stream_join = sl_emulated_stream_join,
	.stream_follow = stream_follow,
	.stream_number = sl_emulated_stream_number,
	.event_make = sl_emulated_event_make,
	.event_free = sl_emulated_event_free,
	.event_record = sl_emulated_event_record,
	.event_wait = sl_emulated_event_wait,
	.event_ms = sl_emulated_event_ms,
	.capture_begin = sl_emulated_capture_begin,
	.capture_end = sl_emulated_capture_end,
	.graph_queue = sl_emulated_graph_queue,
	.graph_free = sl_emulated_graph_free,
	.copy = sl_emulated_queue_copy,
	.fill = sl_emulated_queue_fill,
	.error_text = error_text,
	.settings_problem = sl_emulator_settings_problem,
};
