/*
 * device.c - the devices, and what the calls of all drivers have in common: injected faults,
 * statuses and messages, and the state of a device that has failed permanently. See device.h and
 * device_driver.h.
 */
#include "device.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device_driver.h"
#include "primitives/base/fault.h"

static bool emulated;

/*
 * For each thread, because the current device of the CUDA runtime is a property of the thread too.
 */
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
 * relaunched": ECC, illegal address, launch timeout, hardware stack, misaligned access, assert,
 * failed launch and so on.
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

bool sl_device_has_failed_now(void)
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

/*
 * The driver works but hides or lacks devices. The variable is the most frequent cause, so it is
 * shown.
 */
static enum sl_status no_device(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	return sl_fail(SL_NO_DEVICE,
		"the CUDA driver sees no device (CUDA_VISIBLE_DEVICES is %s%s%s); "
		"check nvidia-smi, or run on the CPU",
		visible ? "'" : "not set", visible ? visible : "", visible ? "'" : "");
}

/*
 * A build without CUDA is reported before the driver is called: the error of the driver would name
 * the machine as the cause.
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

/*
 * Makes device number current, which device_now.number names already: errors are those of that
 * device.
 */
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
