/*
 * device_none.c - the driver of a build without CUDA: no device; copies and fills run on the host.
 *
 * device.c counts the devices first, so most of these functions are never called. They return
 * SL_ERROR_NO_DEVICE.
 */
#include <string.h>

#include "device_driver.h"

static int count(int *n)
{
	*n = 0;
	return SL_ERROR_NO_DEVICE;
}

static void versions(int *driver, int *runtime)
{
	*driver = *runtime = 0;
}

static int use(int number, struct sl_device *device)
{
	(void)number;
	(void)device;
	return SL_ERROR_NO_DEVICE;
}

static int current(int *number)
{
	*number = 0;
	return SL_ERROR_NO_DEVICE;
}

static int limits(struct sl_limits *l)
{
	memset(l, 0, sizeof(*l));
	return SL_ERROR_NO_DEVICE;
}

static int get(enum sl_space space, size_t bytes, void **p)
{
	(void)space;
	(void)bytes;
	*p = NULL;
	return SL_ERROR_NO_DEVICE;
}

static void give(enum sl_space space, void *p)
{
	(void)space;
	(void)p;
}

static size_t free_bytes(void)
{
	return 0;
}

static bool on_device(const void *p)
{
	(void)p;
	return false;
}

static int device_of(const void *p, int *number)
{
	(void)p;
	(void)number;
	return SL_ERROR_NO_DEVICE;
}

static int stream_make(sl_stream *s)
{
	*s = NULL;
	return SL_ERROR_NO_DEVICE;
}

static void stream_free(sl_stream s)
{
	(void)s;
}

/* Work on the host is done when its call returns. */
static int stream_wait(sl_stream s)
{
	(void)s;
	return 0;
}

static int stream_join(sl_stream s)
{
	(void)s;
	return SL_ERROR_NO_DEVICE;
}

static int stream_follow(sl_stream s, sl_event e)
{
	(void)s;
	(void)e;
	return SL_ERROR_NO_DEVICE;
}

static uint64_t stream_number(sl_stream s)
{
	(void)s;
	return 0;
}

static int event_make(sl_event *e)
{
	*e = NULL;
	return SL_ERROR_NO_DEVICE;
}

static void event_free(sl_event e)
{
	(void)e;
}

static int event_record(sl_event e, sl_stream s)
{
	(void)e;
	(void)s;
	return SL_ERROR_NO_DEVICE;
}

static int event_wait(sl_event e)
{
	(void)e;
	return SL_ERROR_NO_DEVICE;
}

static int event_ms(sl_event from, sl_event to, float *ms)
{
	(void)from;
	(void)to;
	*ms = 0;
	return SL_ERROR_NO_DEVICE;
}

static int capture_begin(sl_stream s)
{
	(void)s;
	return SL_ERROR_NO_DEVICE;
}

static int capture_end(sl_stream s, sl_graph *g)
{
	(void)s;
	(void)g;
	return SL_ERROR_NO_DEVICE;
}

static int graph_queue(sl_graph g, sl_stream s)
{
	(void)g;
	(void)s;
	return SL_ERROR_NO_DEVICE;
}

static void graph_free(sl_graph g)
{
	(void)g;
}

static int copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	(void)s;
	memcpy(to, from, bytes);
	return 0;
}

static int fill(void *to, int value, size_t bytes, sl_stream s)
{
	(void)s;
	memset(to, value, bytes);
	return 0;
}

static const char *error_text(int error)
{
	return error == SL_ERROR_MEMORY ? "out of memory" : "built without CUDA";
}

const struct sl_driver sl_driver_built = {
	.name = "none",
	.count = count,
	.versions = versions,
	.use = use,
	.current = current,
	.limits = limits,
	.get = get,
	.give = give,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.device_of = device_of,
	.stream_make = stream_make,
	.stream_free = stream_free,
	.stream_wait = stream_wait,
	.stream_join = stream_join,
	.stream_follow = stream_follow,
	.stream_number = stream_number,
	.event_make = event_make,
	.event_free = event_free,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_ms = event_ms,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_queue = graph_queue,
	.graph_free = graph_free,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
};
