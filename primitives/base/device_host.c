/*
 * device_host.c - the driver of a build without CUDA: no device, and copies are memcpy.
 *
 * device.c asks sl_driver_count before it asks for anything of a device, so those calls
 * are not reached; they answer NO_CUDA all the same.
 */
#include "device_driver.h"

#include <string.h>

enum { NO_CUDA = 1 };

enum sl_status sl_driver_count(int *n)
{
	*n = 0;
	return sl_fail(SL_NO_DEVICE, "built without CUDA, so there is no device to use; build with "
				     "nvcc (SLUICE_CUDA=ON), or run on the CPU");
}

int sl_driver_use(int number, struct sl_device *device)
{
	(void)number;
	(void)device;
	return NO_CUDA;
}

int sl_driver_get(enum sl_space space, size_t bytes, void **p)
{
	(void)space;
	(void)bytes;
	*p = NULL;
	return NO_CUDA;
}

void sl_driver_give(enum sl_space space, void *p)
{
	(void)space;
	(void)p;
}

size_t sl_driver_free_bytes(void)
{
	return 0;
}

int sl_driver_stream_make(sl_stream *s)
{
	*s = NULL;
	return NO_CUDA;
}

void sl_driver_stream_free(sl_stream s)
{
	(void)s;
}

/* Work on the host is done when its call returns. */
int sl_driver_stream_wait(sl_stream s)
{
	(void)s;
	return 0;
}

int sl_driver_copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	(void)s;
	memcpy(to, from, bytes);
	return 0;
}

int sl_driver_fill(void *to, int value, size_t bytes, sl_stream s)
{
	(void)s;
	memset(to, value, bytes);
	return 0;
}

const char *sl_driver_error_text(int error)
{
	return sl_driver_error_is_memory(error) ? "out of memory" : "built without CUDA";
}

/* As CUDA numbers it, so that a fault on demand means the same in every build. */
bool sl_driver_error_is_memory(int error)
{
	enum { MEMORY_ALLOCATION = 2 };

	return error == MEMORY_ALLOCATION;
}
