/*
 * device.c - host memory, and what all drivers have in common: injected faults, statuses and messages,
 * and the state of a device that has failed permanently. See device.h and device_driver.h.
 */
#include "device.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "primitives/base/arena.h"
#include "device_driver.h"
#include "primitives/base/fault.h"

static bool emulated;

/* For each thread, because the current device of the CUDA runtime is a property of the thread too. */
static _Thread_local struct sl_device device_now;

/* For each device: the error after which it cannot be used; 0: none. */
static atomic_int sticky_error[SL_DEVICES_MAX];

void sl_device_emulate(bool emulate)
{
	emulated = emulate;
	device_now = (struct sl_device){0};
}

bool sl_device_is_emulated(void)
{
	return emulated;
}

const struct sl_driver *sl_driver_in_use(void)
{
	return emulated ? &sl_driver_emulated : &sl_driver_built;
}

/*
 * Sticky errors: those of which cuda_runtime_api.h says that "the process must be terminated and
 * relaunched": ECC, illegal address, launch timeout, hardware stack, misaligned access, assert, failed
 * launch and so on.
 */
static bool is_sticky(int error)
{
	static const int sticky[] = {
		214, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911};

	for (size_t i = 0; i < sizeof(sticky) / sizeof(sticky[0]); i++)
		if (error == sticky[i])
			return true;
	return false;
}

bool sl_device_has_failed(int number)
{
	return number >= 0 && number < SL_DEVICES_MAX && atomic_load(&sticky_error[number]) != 0;
}

static bool has_failed_now(void)
{
	return sl_device_has_failed(device_now.number);
}

/* Stores error for the current device if it is sticky. Returns error. */
static int store_sticky(int error)
{
	if (is_sticky(error))
		atomic_store(&sticky_error[device_now.number], error);
	return error;
}

int sl_driver_error_before(const char *fault)
{
	int error = atomic_load(&sticky_error[device_now.number]);

	return error != 0 ? error : store_sticky(sl_fault(fault));
}

enum sl_status sl_driver_status(int error, const char *what)
{
	if (store_sticky(error) == 0)
		return SL_OK;
	if (error == SL_ERROR_NO_IMAGE)
		return sl_fail(SL_NO_DEVICE,
			"%s: the device's architecture is too old, or this build has no code for "
			"it (error %d, %s); build for it (CMAKE_CUDA_ARCHITECTURES), or run on the "
			"CPU",
			what, error, sl_driver_in_use()->error_text(error));
	return sl_fail(error == SL_ERROR_MEMORY ? SL_DEVICE_MEMORY : SL_DEVICE_FAILED,
		"%s: the device returned error %d, %s; start the program again, or run on the CPU",
		what, error, sl_driver_in_use()->error_text(error));
}

/*
 * An injected fault replaces the launch: the kernel does not run. A failed launch is reported by
 * sl_launch_end(), a failure inside the kernel by a later call that waits for the stream.
 */
enum sl_status sl_launch_begin(const char *kernel)
{
	return sl_driver_status(sl_driver_error_before("dev_launch"), kernel);
}

enum sl_status sl_launch_end(int error, const char *kernel)
{
	return sl_driver_status(error, kernel);
}

/* --- devices ---------------------------------------------------------------------------------- */

/* CUDA encodes version 13.0 as 13000. */
enum { MAJOR = 1000, MINOR = 10 };

/* CUDA reports one error for two causes. If there is no driver, its version is 0. */
static enum sl_status bad_driver(void)
{
	int driver, runtime;

	sl_driver_in_use()->versions(&driver, &runtime);
	if (driver == 0)
		return sl_fail(SL_NO_DEVICE,
			"no CUDA driver is loaded, so no device can be used (this build has CUDA "
			"%d.%d); install the NVIDIA driver, or run on the CPU",
			runtime / MAJOR, runtime % MAJOR / MINOR);
	return sl_fail(SL_NO_DEVICE,
		"the CUDA driver is too old: it serves CUDA %d.%d, this build needs %d.%d; update "
		"the NVIDIA driver, or run on the CPU",
		driver / MAJOR, driver % MAJOR / MINOR, runtime / MAJOR, runtime % MAJOR / MINOR);
}

/* The driver works but hides or lacks devices. The variable is the most frequent cause, so it is shown. */
static enum sl_status no_device(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	return sl_fail(SL_NO_DEVICE,
		"the CUDA driver sees no device (CUDA_VISIBLE_DEVICES is %s%s%s); "
		"check nvidia-smi, or run on the CPU",
		visible ? "'" : "not set", visible ? visible : "", visible ? "'" : "");
}

/*
 * A build without CUDA is reported before the driver is called: the error of the driver would name the
 * machine as the cause.
 */
static bool is_built_without_cuda(void)
{
	return strcmp(sl_driver_in_use()->name, "none") == 0;
}

enum sl_status sl_device_count(int *n)
{
	int error = sl_driver_error_before("dev_count");
	const char *problem = NULL;

	*n = 0;
	if (error == 0 && is_built_without_cuda())
		return sl_fail(SL_NO_DEVICE,
			"built without CUDA, so there is no device to use; build with nvcc "
			"(SLUICE_CUDA=ON), or run on the CPU");
	if (error == 0 && sl_driver_in_use()->settings_problem)
		problem = sl_driver_in_use()->settings_problem();
	if (problem)
		return sl_fail(SL_USAGE, "%s", problem);
	if (error == 0)
		error = store_sticky(sl_driver_in_use()->count(n));
	if (*n > SL_DEVICES_MAX)
		*n = SL_DEVICES_MAX;
	if (error == 0)
		return SL_OK;
	*n = 0;
	if (error == SL_ERROR_OLD_DRIVER)
		return bad_driver();
	if (error == SL_ERROR_NO_DEVICE)
		return no_device();
	if (is_sticky(error))
		return sl_driver_status(error, "counting the devices");
	return sl_fail(SL_NO_DEVICE,
		"no device can be used: CUDA error %d, %s; check nvidia-smi, or run on the CPU",
		error, sl_driver_in_use()->error_text(error));
}

/* Makes device number current, which device_now.number names already: errors are those of that device. */
static enum sl_status use(int number, struct sl_device *device)
{
	int error, n;

	SL_TRY(sl_device_count(&n));
	if (number < 0 || number >= n)
		return sl_fail(SL_NO_DEVICE,
			"there is no device %d: this machine has %d; choose one from 0 to %d",
			number, n, n - 1);
	error = sl_driver_error_before("dev_use");
	if (error == 0)
		error = sl_driver_in_use()->use(number, device);
	if (error == SL_ERROR_NO_IMAGE && device->major > 0)
		return sl_fail(SL_NO_DEVICE,
			"device %d, %s, is of architecture %d.%d, too old for this program (7.5, "
			"Turing, at least); choose another, or run on the CPU",
			number, device->name, device->major, device->minor);
	return sl_driver_status(error, "selecting the device");
}

enum sl_status sl_device_use(int number, struct sl_device *device)
{
	struct sl_device before = device_now;
	enum sl_status s;

	memset(device, 0, sizeof(*device));
	if (number >= 0 && number < SL_DEVICES_MAX)
		device_now.number = number;
	s = use(number, device);
	if (s == SL_OK) {
		device_now = *device;
		return s;
	}
	if (device_now.number != before.number) {
		device_now = before;
		(void)sl_driver_in_use()->use(before.number, NULL);
	}
	return s;
}

bool sl_device_switch(const struct sl_device *device)
{
	if (sl_device_has_failed(device->number) ||
		sl_driver_in_use()->use(device->number, NULL) != 0)
		return false;
	device_now = *device;
	return true;
}

const struct sl_device *sl_device_now(void)
{
	return &device_now;
}

const char *sl_device_name(void)
{
	return device_now.name;
}

enum sl_status sl_device_limits(struct sl_limits *limits)
{
	int error = sl_driver_error_before("dev_limits");

	memset(limits, 0, sizeof(*limits));
	if (error == 0)
		error = sl_driver_in_use()->limits(limits);
	return sl_driver_status(error, "querying the limits of the device");
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Free host memory in bytes; 0 if it is unknown. */
static uint64_t free_host_bytes(void)
{
	long pages = sysconf(_SC_AVPHYS_PAGES);
	long page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

/*
 * Huge pages are requested for large blocks: a gather over columns of many megabytes then has few TLB misses
 * instead of one per item. A system without huge pages ignores the request.
 */
#define HUGE_PAGE ((size_t)1 << 21)

/* s is SL_HOST_MEMORY or SL_DEVICE_MEMORY; free_bytes is the free memory of that kind, kind its name. */
static enum sl_status out_of_memory(
	enum sl_status s, const char *kind, size_t bytes, uint64_t free_bytes, const char *why)
{
	return sl_fail(s,
		"%s memory: %zu bytes requested, %llu are free: %s; "
		"use smaller batches, or fewer at a time",
		kind, bytes, (unsigned long long)free_bytes, why);
}

/* posix_memalign(3) leaves *p undefined after a failure, so it is set to NULL here. */
static enum sl_status get_host(size_t bytes, void **p)
{
	size_t whole = bytes > 0 ? bytes : 1;
	int error = sl_fault("host_malloc");

	if (error == 0 && whole > PTRDIFF_MAX)
		error = ENOMEM; /* a saturated size, or more than an object can have */
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

/*
 * Memory of the driver. Pinned memory is host memory, so its exhaustion is SL_HOST_MEMORY although the
 * driver reports it.
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
	else if (!has_failed_now())
		sl_driver_in_use()->give(space, p);
}

/* --- streams and events ----------------------------------------------------------------------- */

enum sl_status sl_stream_make(sl_stream *s)
{
	int n, error = sl_driver_error_before("dev_stream");

	*s = NULL;
	if (error == 0) {
		SL_TRY(sl_device_count(&n));
		error = sl_driver_in_use()->stream_make(s);
	}
	return sl_driver_status(error, "creating a stream");
}

void sl_stream_free(sl_stream s)
{
	if (s && !has_failed_now())
		sl_driver_in_use()->stream_free(s);
}

enum sl_status sl_stream_wait(sl_stream s)
{
	int error = sl_driver_error_before("dev_sync");

	if (error == 0)
		error = sl_driver_in_use()->stream_wait(s);
	return sl_driver_status(error, "waiting for queued work");
}

enum sl_status sl_event_make(sl_event *e)
{
	int n, error = sl_driver_error_before("dev_event");

	*e = NULL;
	if (error == 0) {
		SL_TRY(sl_device_count(&n));
		error = sl_driver_in_use()->event_make(e);
	}
	return sl_driver_status(error, "creating an event");
}

void sl_event_free(sl_event e)
{
	if (e && !has_failed_now())
		sl_driver_in_use()->event_free(e);
}

enum sl_status sl_event_record(sl_event e, sl_stream s)
{
	int error = sl_driver_error_before("dev_record");

	if (error == 0)
		error = sl_driver_in_use()->event_record(e, s);
	return sl_driver_status(error, "recording an event");
}

enum sl_status sl_event_wait(sl_event e)
{
	int error = sl_driver_error_before("dev_sync");

	if (error == 0)
		error = sl_driver_in_use()->event_wait(e);
	return sl_driver_status(error, "waiting for queued work");
}

enum sl_status sl_event_ms(sl_event from, sl_event to, float *ms)
{
	int error = sl_driver_error_before("dev_elapsed");

	*ms = 0;
	if (error == 0)
		error = sl_driver_in_use()->event_ms(from, to, ms);
	return sl_driver_status(error, "reading the time between events");
}

/* --- graphs ----------------------------------------------------------------------------------- */

enum sl_status sl_capture_begin(sl_stream s)
{
	int error = sl_driver_error_before("dev_capture");

	if (error == 0)
		error = sl_driver_in_use()->capture_begin(s);
	return sl_driver_status(error, "capturing a stream");
}

enum sl_status sl_capture_end(sl_stream s, sl_graph *g)
{
	int error = sl_driver_error_before("dev_graph");

	*g = NULL;
	if (error == 0)
		error = sl_driver_in_use()->capture_end(s, g);
	else
		sl_capture_drop(s);
	return sl_driver_status(error, "creating a graph");
}

/* Without a status: it runs after a failure whose message must stay the last one. */
void sl_capture_drop(sl_stream s)
{
	if (!has_failed_now())
		(void)sl_driver_in_use()->capture_end(s, NULL);
}

enum sl_status sl_graph_queue(sl_graph g, sl_stream s)
{
	int error = sl_driver_error_before("dev_replay");

	if (error == 0)
		error = sl_driver_in_use()->graph_queue(g, s);
	return sl_driver_status(error, "queueing a graph");
}

void sl_graph_free(sl_graph g)
{
	if (g && !has_failed_now())
		sl_driver_in_use()->graph_free(g);
}

/* --- copies ----------------------------------------------------------------------------------- */

/*
 * Implements the fault dev_flip:k:b for a copy from the device: inverts bit b of the result,
 * counted from 1 and modulo the size. Waits for the copy, which is acceptable in a test.
 */
static int flip(unsigned char *to, size_t bytes, int b, sl_stream s)
{
	const struct sl_driver *d = sl_driver_in_use();
	size_t bit = (size_t)(b - 1) % (bytes * 8);
	unsigned char byte;
	int error;

	if (d->on_device(to))
		return 0;
	error = d->stream_wait(s);
	if (error == 0)
		error = d->copy(&byte, to + bit / 8, 1, s);
	if (error == 0)
		error = d->stream_wait(s);
	if (error == 0)
		error = d->fill(to + bit / 8, byte ^ 1 << bit % 8, 1, s);
	return error;
}

/* Both faults are counted in each call, so that their numbers do not depend on the size of a copy. */
enum sl_status sl_copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	int error = sl_driver_error_before("dev_copy"), bit = sl_fault("dev_flip");

	if (error == 0 && bytes > 0)
		error = sl_driver_in_use()->copy(to, from, bytes, s);
	if (error == 0 && bytes > 0 && bit > 0)
		error = flip((unsigned char *)to, bytes, bit, s);
	return sl_driver_status(error, "copying");
}

enum sl_status sl_fill(void *to, int value, size_t bytes, sl_stream s)
{
	int error = sl_driver_error_before("dev_fill");

	if (error == 0 && bytes > 0)
		error = sl_driver_in_use()->fill(to, value, bytes, s);
	return sl_driver_status(error, "filling");
}
