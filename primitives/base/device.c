/* device.c - host memory, and what all drivers have in common: faults, statuses, stories. */
#include "device.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "device_driver.h"
#include "fault.h"

enum sl_status sl_device_status(int error, const char *what)
{
	if (error == 0)
		return SL_OK;
	return sl_fail(sl_driver_error_is_memory(error) ? SL_DEVICE_MEMORY : SL_DEVICE_FAILED,
		"%s: the device answers error %d, %s; start the program again, or run on the CPU",
		what, error, sl_driver_error_text(error));
}

enum sl_status sl_device_count(int *n)
{
	*n = 0;
	SL_TRY(sl_device_status(sl_fault("dev_count"), "counting the devices"));
	return sl_driver_count(n);
}

enum sl_status sl_device_use(int number, struct sl_device *device)
{
	int error, n;

	SL_TRY(sl_device_count(&n));
	if (number < 0 || number >= n)
		return sl_fail(SL_USAGE,
			"there is no device %d: this machine has %d; choose one from 0 to %d",
			number, n, n - 1);
	error = sl_fault("dev_use");
	if (error == 0)
		error = sl_driver_use(number, device);
	return sl_device_status(error, "choosing the device");
}

/* What the system could give at once; 0 when it does not tell. */
static uint64_t free_host_bytes(void)
{
	long pages = sysconf(_SC_AVPHYS_PAGES);
	long page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

/*
 * Large blocks ask for huge pages: gathers over columns of megabytes then miss the TLB a few times
 * instead of at every item. A system that has none declines, and nothing is lost.
 */
#define HUGE_PAGE ((size_t)1 << 21)

static enum sl_status out_of_memory(
	enum sl_status s, const char *kind, size_t bytes, uint64_t free_bytes, const char *why)
{
	return sl_fail(s,
		"%s memory: %zu bytes asked, %llu are free: %s; "
		"use smaller batches, or fewer at a time",
		kind, bytes, (unsigned long long)free_bytes, why);
}

static enum sl_status get_host(size_t bytes, void **p)
{
	size_t whole = bytes > 0 ? bytes : 1;
	int error = sl_fault("host_malloc");

	if (error == 0 && whole > PTRDIFF_MAX)
		error = ENOMEM; /* saturated on the way, or no object can be so large */
	if (error == 0)
		error = posix_memalign(p, whole < HUGE_PAGE ? SL_ALIGN : HUGE_PAGE, whole);
	if (error != 0) {
		*p = NULL;
		return out_of_memory(
			SL_HOST_MEMORY, "host", bytes, free_host_bytes(), strerror(error));
	}
	if (whole >= HUGE_PAGE)
		(void)madvise(*p, whole, MADV_HUGEPAGE);
	return SL_OK;
}

static enum sl_status get_device(size_t bytes, void **p)
{
	int n, error = sl_fault("dev_malloc");

	if (error == 0) {
		SL_TRY(sl_driver_count(&n));
		error = sl_driver_get(SL_DEVICE, bytes > 0 ? bytes : 1, p);
	}
	if (error != 0 && sl_driver_error_is_memory(error))
		return out_of_memory(SL_DEVICE_MEMORY, "device", bytes, sl_driver_free_bytes(),
			sl_driver_error_text(error));
	return sl_device_status(error, "getting device memory");
}

/* Running out of pinned memory is a want of the host, though the driver reports it. */
static enum sl_status get_pinned(size_t bytes, void **p)
{
	int n, error = sl_fault("pinned_malloc");

	if (error == 0) {
		SL_TRY(sl_driver_count(&n));
		error = sl_driver_get(SL_PINNED, bytes > 0 ? bytes : 1, p);
	}
	if (error != 0 && sl_driver_error_is_memory(error))
		return out_of_memory(SL_HOST_MEMORY, "pinned host", bytes, free_host_bytes(),
			sl_driver_error_text(error));
	return sl_device_status(error, "getting pinned memory");
}

enum sl_status sl_memory_get(enum sl_space space, size_t bytes, void **p)
{
	*p = NULL;
	switch (space) {
	case SL_HOST:
		return get_host(bytes, p);
	case SL_DEVICE:
		return get_device(bytes, p);
	case SL_PINNED:
		return get_pinned(bytes, p);
	}
	return sl_fail(SL_USAGE,
		"memory of space %d: there is none; use SL_HOST, SL_DEVICE or SL_PINNED",
		(int)space);
}

void sl_memory_give(enum sl_space space, void *p)
{
	if (!p)
		return;
	if (space == SL_HOST)
		free(p);
	else
		sl_driver_give(space, p);
}

enum sl_status sl_stream_make(sl_stream *s)
{
	int n, error = sl_fault("dev_stream");

	*s = NULL;
	if (error == 0) {
		SL_TRY(sl_driver_count(&n));
		error = sl_driver_stream_make(s);
	}
	return sl_device_status(error, "making a stream");
}

void sl_stream_free(sl_stream s)
{
	if (s)
		sl_driver_stream_free(s);
}

enum sl_status sl_stream_wait(sl_stream s)
{
	int error = sl_fault("dev_sync");

	if (error == 0)
		error = sl_driver_stream_wait(s);
	return sl_device_status(error, "waiting for queued work");
}

enum sl_status sl_copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	int error = sl_fault("dev_copy");

	if (error == 0 && bytes > 0)
		error = sl_driver_copy(to, from, bytes, s);
	return sl_device_status(error, "copying");
}

enum sl_status sl_fill(void *to, int value, size_t bytes, sl_stream s)
{
	int error = sl_fault("dev_fill");

	if (error == 0 && bytes > 0)
		error = sl_driver_fill(to, value, bytes, s);
	return sl_device_status(error, "filling");
}
