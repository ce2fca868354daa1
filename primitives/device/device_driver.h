/*
 * device_driver.h - the interface of a driver: CUDA, the emulated device, or none.
 *
 * A driver makes the call and returns 0 or an error number; all drivers use the numbers of CUDA.
 * device.c adds what is common to them: injected faults, statuses and messages, and the state of a
 * device that has failed permanently. This header also declares sl_launch_begin() and
 * sl_launch_end() of device.c, which kernel files call.
 */
#ifndef SL_PRIMITIVES_DEVICE_DEVICE_DRIVER_H
#define SL_PRIMITIVES_DEVICE_DEVICE_DRIVER_H

#include <stddef.h>

#include "primitives/device/device.h"

SL_C_BEGIN

/* The error numbers that code here depends on; cuda_runtime_api.h has all. */
enum sl_device_error {
	SL_ERROR_VALUE = 1,
	SL_ERROR_MEMORY = 2,
	SL_ERROR_OLD_DRIVER = 35, /* also if there is no driver */
	SL_ERROR_NO_DEVICE = 100,
	SL_ERROR_BAD_DEVICE = 101,
	SL_ERROR_NO_IMAGE = 209, /* no code for a device of that architecture */
	SL_ERROR_HANDLE = 400,   /* a stream of another device than the current one */
	SL_ERROR_ADDRESS = 700,
	SL_ERROR_LAUNCH = 719,
	SL_ERROR_CAPTURED = 900 /* not while a stream is captured */
};

/* Bytes of a huge page of x86-64 and AArch64. */
#define SL_HUGE_PAGE ((size_t)1 << 21)

/* That of a build without CUDA lacks the functions that nobody can call without a device. */
struct sl_driver {
	const char *name; /* "cuda" */

	int (*count)(int *n); /* device.c uses at most SL_DEVICES_MAX of them */
	/* CUDA versions of the installed driver and of this build: 13000 for 13.0; 0: none. */
	void (*versions)(int *driver, int *runtime);
	/* Makes a device current for the calling thread; describes it unless device is NULL. */
	int (*use)(int number, struct sl_device *device);
	/* The number of the current device of the thread, which another library may have chosen. */
	int (*current)(int *number);
	int (*limits)(struct sl_limits *limits);

	/* SL_DEVICE or SL_PINNED memory; bytes > 0. */
	int (*get)(enum sl_space space, size_t bytes, void **p);
	void (*give)(enum sl_space space, void *p);
	size_t (*free_bytes)(void); /* of the current device */
	bool (*on_device)(const void *p);
	/* The number of the device whose memory p is in. Only of the driver of the build. */
	int (*device_of)(const void *p, int *number);

	int (*stream_make)(sl_stream *s);
	void (*stream_free)(sl_stream s);
	int (*stream_wait)(sl_stream s);
	/* Queues on s a wait for all work that streams of the current device have now. */
	int (*stream_join)(sl_stream s);
	/* Queues on s a wait for the last recording of e. */
	int (*stream_follow)(sl_stream s, sl_event e);
	/* A number that no other stream of the process has, now or later. 0: not known. */
	uint64_t (*stream_number)(sl_stream s);

	int (*event_make)(sl_event *e);
	void (*event_free)(sl_event e);
	int (*event_record)(sl_event e, sl_stream s);
	int (*event_wait)(sl_event e);
	int (*event_ms)(sl_event from, sl_event to, float *ms);

	/* end: g is NULL to discard what was recorded. */
	int (*capture_begin)(sl_stream s);
	int (*capture_end)(sl_stream s, sl_graph *g);
	int (*graph_queue)(sl_graph g, sl_stream s);
	void (*graph_free)(sl_graph g);

	/* As sl_copy() and sl_fill(); bytes > 0. */
	int (*copy)(void *to, const void *from, size_t bytes, sl_stream s);
	int (*fill)(void *to, int value, size_t bytes, sl_stream s);

	const char *(*error_text)(int error);

	/* What is wrong with the settings of the driver, or NULL; may be NULL itself. */
	const char *(*settings_problem)(void);
};

/* The driver of the build: device_cuda.c or device_none.c. */
extern const struct sl_driver sl_driver_built;
extern const struct sl_driver sl_driver_emulated;

/* The driver in use: see sl_device_emulate(). */
const struct sl_driver *sl_driver_in_use(void);

/*
 * The error that a call must report without calling the driver, or 0. fault: its name for
 * sl_fault().
 */
int sl_driver_error_before(const char *fault);

/* The status for an error number; the message begins with what was done. */
enum sl_status sl_driver_status(int error, const char *what);

/* Has the current device failed permanently? */
bool sl_device_has_failed_now(void);

/* The device that the calling thread has chosen; its name is "" if there is none. */
const struct sl_device *sl_device_now(void);

/*
 * For launches, which kernel.cuh makes. Begin: SL_OK if the device can take a launch (it has not
 * failed, and no fault is injected). End: the status for the error number that the launch returned.
 * Both name the kernel in their message.
 */
SL_FOR_MODELS enum sl_status sl_launch_begin(const char *kernel);
SL_FOR_MODELS enum sl_status sl_launch_end(int error, const char *kernel);

/* --- pinned_cuda ------------------------------------------------------------------------------ */

/*
 * Pinned memory of CUDA.
 *
 * cudaMallocHost() takes and locks pages of 4 KiB one after the other: 2 GB/s, so that a run would
 * wait for its memory several times as long as it computes. Large blocks are therefore taken from
 * the system in huge pages, by several threads, and then registered with CUDA. A child process does
 * not have them (MADV_DONTFORK).
 */

/*
 * Sets *p to bytes > 0 of memory that copies of all devices can use. Returns 0 or an error number
 * of CUDA.
 */
int sl_pinned_get(size_t bytes, void **p);

/* Frees memory of sl_pinned_get(). Returns as it does. */
int sl_pinned_give(void *p);

SL_C_END

#endif
