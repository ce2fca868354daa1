/*
 * device_none.c - the driver of a build without CUDA: no device; copies and fills run on the host.
 *
 * device.c and device_queue.c call no function that the driver lacks.
 */
#include <string.h>

#include "device_driver.h"

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

/* Work on the host is done when its call returns. */
static int stream_wait(sl_stream s)
{
	(void)s;
	return 0;
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
	.versions = versions,
	.use = use,
	.current = current,
	.limits = limits,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.device_of = device_of,
	.stream_wait = stream_wait,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
};
