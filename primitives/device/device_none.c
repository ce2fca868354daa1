/*
 * device_none.c - the driver of a build without CUDA: no device; copies and fills run on the host.
 *
 * device.c counts the devices before it chooses a device, allocates device memory, or makes a stream or
 * an event. So these objects cannot exist here, and the functions on them are left out (NULL). What a
 * caller can reach without such an object is defined.
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

static int limits(struct sl_limits *l)
{
	memset(l, 0, sizeof(*l));
	return SL_ERROR_NO_DEVICE;
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

/* Work on the host is done when its call returns. */
static int stream_wait(sl_stream s)
{
	(void)s;
	return 0;
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
	.limits = limits,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.stream_wait = stream_wait,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
};
