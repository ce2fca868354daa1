/* device_memory.c - memory of the host and of the driver in use. See device.h. */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_driver.h"
#include "primitives/base/arena.h"
#include "primitives/base/fault.h"

/* Free host memory in bytes; 0 if it is unknown. */
static uint64_t free_host_bytes(void)
{
	long pages = sysconf(_SC_AVPHYS_PAGES);
	long page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

/*
 * s is SL_HOST_MEMORY or SL_DEVICE_MEMORY; free_bytes is the free memory of that kind, kind its
 * name.
 */
static enum sl_status out_of_memory(
	enum sl_status s, const char *kind, size_t bytes, uint64_t free_bytes, const char *why)
{
	return sl_fail(s,
		"%s memory: %zu bytes requested, %llu are free: %s; "
		"use smaller batches, or fewer at a time",
		kind, bytes, (unsigned long long)free_bytes, why);
}

/*
 * posix_memalign(3) leaves *p undefined after a failure, so it is set to NULL here. Huge pages are
 * requested for large blocks: a gather over columns of many megabytes then has few TLB misses
 * instead of one per item. A system without huge pages ignores the request.
 */
static enum sl_status get_host(size_t bytes, void **p)
{
	size_t whole = bytes > 0 ? bytes : 1;
	int error = sl_fault("host_malloc");

	if (error == 0 && whole > PTRDIFF_MAX)
		error = ENOMEM; /* a saturated size, or more than an object can have */
	if (error == 0)
		error = posix_memalign(p, whole < SL_HUGE_PAGE ? SL_ALIGN : SL_HUGE_PAGE, whole);
	if (error != 0) {
		*p = NULL;
		return out_of_memory(
			SL_HOST_MEMORY, "host", bytes, free_host_bytes(), strerror(error));
	}
	if (whole >= SL_HUGE_PAGE)
		(void)madvise(*p, whole, MADV_HUGEPAGE);
	return SL_OK;
}

/*
 * Memory of the driver. Pinned memory is host memory, so its exhaustion is SL_HOST_MEMORY although
 * the driver reports it.
 */
static enum sl_status get_from_driver(enum sl_space space, size_t bytes, void **p)
{
	bool pinned = space == SL_PINNED;
	int n, error = sl_driver_error_before(pinned ? "pinned_malloc" : "dev_malloc");

	if (error == 0) {
		SL_TRY(sl_device_count(&n));
		error = sl_driver_in_use()->get(space, bytes > 0 ? bytes : 1, p);
	}
	if (error == SL_ERROR_MEMORY)
		return out_of_memory(pinned ? SL_HOST_MEMORY : SL_DEVICE_MEMORY,
			pinned ? "pinned host" : "device", bytes,
			pinned ? free_host_bytes() : sl_driver_in_use()->free_bytes(),
			sl_driver_in_use()->error_text(error));
	return sl_driver_status(
		error, pinned ? "allocating pinned memory" : "allocating device memory");
}

enum sl_status sl_memory_get(enum sl_space space, size_t bytes, void **p)
{
	*p = NULL;
	switch (space) {
	case SL_HOST:
		return get_host(bytes, p);
	case SL_DEVICE:
	case SL_PINNED:
		return get_from_driver(space, bytes, p);
	}
	return sl_fail(SL_USAGE,
		"memory of space %d cannot be allocated: the space is unknown; use SL_HOST, SL_DEVICE or SL_PINNED",
		(int)space);
}

/* The memory of a device after a sticky error is released when the process ends. */
void sl_memory_give(enum sl_space space, void *p)
{
	if (!p)
		return;
	if (space == SL_HOST)
		free(p);
	else if (!sl_device_has_failed_now())
		sl_driver_in_use()->give(space, p);
}
