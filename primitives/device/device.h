/*
 * device.h - memory, streams, events, graphs and copies: the only layer that calls a device, and
 * the only one that allocates.
 *
 * Three drivers implement it (device_driver.h): CUDA, if the build has it; the emulated device,
 * which runs kernels on the CPU (emulator/settings.h); and none, for a build without CUDA. The rest
 * of the code is the same for all three.
 *
 * The functions are defined in device.c (devices), device_memory.c and device_queue.c (streams,
 * events, graphs and copies); this header declares all of them, because programs include it.
 *
 * Names follow CUDA: sl_stream is a cudaStream_t, sl_event a cudaEvent_t, so a program that uses
 * the CUDA runtime can pass its own. "Queues" means: asynchronous, done in the order of the stream.
 *
 * A call concerns the current device of the calling thread, number 0 until the thread chooses
 * another.
 *
 * Errors: SL_DEVICE_FAILED unless stated otherwise. A device can fail permanently (illegal address,
 * lost GPU; CUDA calls such errors sticky). From then on every call for that device returns
 * SL_DEVICE_FAILED without calling the driver, and its memory stays allocated. Other devices can
 * still be used.
 */
#ifndef SL_PRIMITIVES_DEVICE_DEVICE_H
#define SL_PRIMITIVES_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

SL_C_BEGIN

enum sl_space {
	SL_HOST,   /* ordinary memory */
	SL_DEVICE, /* device memory */
	SL_PINNED  /* page-locked host memory: the device copies from and to it directly */
};

/* cudaStream_t, cudaEvent_t and cudaGraphExec_t, declared here so that no CUDA header is needed. */
typedef struct CUstream_st *sl_stream; /* NULL: the default stream; on the host, none */
typedef struct CUevent_st *sl_event;
typedef struct CUgraphExec_st *sl_graph;

/* At most so many devices of a machine are used: those with the numbers below. */
enum { SL_DEVICES_MAX = 32 };

struct sl_device {
	int number;       /* as CUDA numbers them */
	char name[96];    /* "NVIDIA H200" */
	int major, minor; /* compute capability */
	int multiprocessors;
	size_t memory_bytes; /* in total */
	size_t free_bytes;   /* at the time of the call */
	char pci[16];        /* address on the PCI bus, "0000:3b:00.0"; "": not a PCI device */
};

/* The limits of a launch on the current device. */
struct sl_limits {
	uint32_t multiprocessors;
	uint32_t block_threads; /* most threads per block */
	size_t shared_bytes;    /* most dynamic shared memory per block */
};

/*
 * Chooses the kind of device for the whole process: true for the emulated device, false for CUDA,
 * the default. No stream, event or memory of the other kind may be in use.
 */
SL_API void sl_device_emulate(bool emulate);
SL_API bool sl_device_is_emulated(void);

/*
 * The number of usable devices, at least 1. SL_NO_DEVICE if there is none; the message says why:
 * built without CUDA, no driver, driver too old, or no device visible. SL_USAGE if SL_EMULATOR is
 * malformed.
 */
SL_API enum sl_status sl_device_count(int *n);

/*
 * Makes a device the current one of the calling thread and describes it. After a failure the
 * current device is the one before.
 */
SL_API enum sl_status sl_device_use(int number, struct sl_device *device);

/*
 * Makes a device current that sl_device_use() has described, without a query. False, and without a
 * message, if the device has failed; the current device then is the one before.
 */
SL_API bool sl_device_switch(const struct sl_device *device);

/* Has the device failed permanently? */
SL_API bool sl_device_has_failed(int number);

/* The name of the device that the calling thread has chosen with sl_device_use(); "" for none. */
SL_API const char *sl_device_name(void);

/* The limits of the current device. */
SL_API enum sl_status sl_device_limits(struct sl_limits *limits);

/*
 * Allocates bytes, aligned to SL_ALIGN (arena.h); free with sl_memory_give(). 0 bytes give a valid
 * pointer. Errors: SL_HOST_MEMORY, SL_DEVICE_MEMORY, SL_NO_DEVICE. May wait for the device.
 */
SL_API enum sl_status sl_memory_get(enum sl_space space, size_t bytes, void **p);

/* Frees memory of sl_memory_get() of the same space; p may be NULL. */
SL_API void sl_memory_give(enum sl_space space, void *p);

/* Creates a stream on the current device. It does not synchronise with CUDA's default stream. */
SL_API enum sl_status sl_stream_make(sl_stream *s);
SL_API void sl_stream_free(sl_stream s);

/* Waits until all work queued on s is done. Returns the failure of that work, if any. */
SL_API enum sl_status sl_stream_wait(sl_stream s);

/* Creates an event: a position in a stream. It can be recorded any number of times. */
SL_API enum sl_status sl_event_make(sl_event *e);
SL_API void sl_event_free(sl_event e);

/* Queues the event on s. */
SL_API enum sl_status sl_event_record(sl_event e, sl_stream s);

/* Waits until the stream has passed the event. Returns the failure of work before it, if any. */
SL_API enum sl_status sl_event_wait(sl_event e);

/* Milliseconds between two events that the stream has passed. */
SL_API enum sl_status sl_event_ms(sl_event from, sl_event to, float *ms);

/*
 * Stream capture. After begin, launches, copies, fills and events queued on s are recorded instead
 * of done; end makes a graph of them, in their order. The graph can be queued any number of times.
 * Arguments and sizes are those that were recorded; the contents of memory are those at the time
 * that the graph runs. During a capture nothing may wait for s or copy from or to SL_HOST memory.
 * After end, s is as before, whatever end returns. Free the graph when no stream uses it any more,
 * and before the events in it.
 *
 * A launch in a graph takes the device about 1 us, a single launch about 2 us.
 */
SL_API enum sl_status sl_capture_begin(sl_stream s);
SL_API enum sl_status sl_capture_end(sl_stream s, sl_graph *g);

/* Instead of end: discards what was recorded. */
SL_API void sl_capture_drop(sl_stream s);

/* Queues all work of the graph on s. */
SL_API enum sl_status sl_graph_queue(sl_graph g, sl_stream s);
SL_API void sl_graph_free(sl_graph g);

/*
 * Queues a copy between any two spaces. If one side is SL_HOST memory the call may wait until the
 * copy is done. Both sides must stay valid until s has been waited for.
 */
SL_API enum sl_status sl_copy(void *to, const void *from, size_t bytes, sl_stream s);

/* Queues a fill: each of the bytes becomes value, as memset. */
SL_API enum sl_status sl_fill(void *to, int value, size_t bytes, sl_stream s);

SL_C_END

#endif
