/*
 * device.h - memory, streams, events and copies: the one layer through which all else reaches a
 * device, and the only place that allocates.
 *
 * Three drivers answer behind it (device_driver.h): CUDA, where the build has it; the emulated
 * device, whose kernels run on the CPU, thread by thread; and none, for a build without CUDA. The
 * rest of the code is the same for all and has no #ifdef.
 *
 * A device can fail for good: an illegal address, a lost GPU. From then on every call here answers
 * SL_DEVICE_FAILED by itself and none reaches the driver, whose answers could not be trusted.
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
	SL_DEVICE, /* the device's memory */
	SL_PINNED  /* host memory that the device copies from and to without a detour */
};

/* What cudaStream_t and cudaEvent_t are. No CUDA header is needed to pass them on. */
typedef struct CUstream_st *sl_stream; /* NULL: the default stream; on the host, none */
typedef struct CUevent_st *sl_event;
typedef struct CUgraphExec_st *sl_graph; /* cudaGraphExec_t: work that is queued as one */

struct sl_device {
	int number;       /* as CUDA numbers them */
	char name[96];    /* "NVIDIA H200" */
	int major, minor; /* compute capability */
	int multiprocessors;
	size_t memory_bytes; /* in all */
	size_t free_bytes;   /* when asked */
};

/* What a launch on the current device may have. */
struct sl_limits {
	uint32_t multiprocessors;
	uint32_t block_threads; /* threads a block, at most */
	size_t shared_bytes;    /* shared memory a block, at most, asked for by the launch */
};

/*
 * From now on the process' device is the emulated one, or again CUDA's: the default. Nothing of the
 * other may be in use. SL_EMULATOR in the environment tells how it runs, see emulated.h.
 */
void sl_device_emulate(bool emulate);
bool sl_device_is_emulated(void);

/*
 * How many devices can be used. When there is none, SL_NO_DEVICE, and the story says which of:
 * built without CUDA, no driver, driver too old, no device.
 */
enum sl_status sl_device_count(int *n);

/* Describes device number; makes it the calling thread's current one. */
enum sl_status sl_device_use(int number, struct sl_device *device);

/*
 * The name of the device that the calling thread has chosen with sl_device_use(); "" when it has
 * not.
 */
const char *sl_device_name(void);

/* The limits of the current device. */
enum sl_status sl_device_limits(struct sl_limits *limits);

/*
 * Gets bytes of memory, SL_ALIGN-aligned; *p is the caller's until it is given back. Zero bytes
 * give a valid pointer. Errors: SL_HOST_MEMORY, SL_DEVICE_MEMORY, SL_NO_DEVICE.
 */
enum sl_status sl_memory_get(enum sl_space space, size_t bytes, void **p);

/* Gives memory back; p may be NULL. */
void sl_memory_give(enum sl_space space, void *p);

/* A stream of the current device. Streams of CUDA's do not wait for the default one. */
enum sl_status sl_stream_make(sl_stream *s);
void sl_stream_free(sl_stream s);

/* Waits until all work on s is done; a failure of that work is reported here. */
enum sl_status sl_stream_wait(sl_stream s);

/* A mark in a stream. Recording is asynchronous; a recorded event can be recorded again. */
enum sl_status sl_event_make(sl_event *e);
void sl_event_free(sl_event e);
enum sl_status sl_event_record(sl_event e, sl_stream s);

/* Waits until the stream has passed the mark; a failure of work before it is reported here. */
enum sl_status sl_event_wait(sl_event e);

/* Milliseconds between two marks that the stream has passed. */
enum sl_status sl_event_ms(sl_event from, sl_event to, float *ms);

/*
 * From begin on, launches, copies, fills and events queued on s are noted and not done; end makes a
 * graph of them, in their order. It can be queued as often as is wanted, and does the same with
 * what memory holds by then: arguments and sizes stay those that were noted. Nothing may wait for s
 * in between, or copy from or to SL_HOST memory. Once end has answered, whatever it is, s is as
 * before. The graph is the caller's, to be freed when no stream has it any more, and before the
 * events in it.
 *
 * A launch costs the device less in a graph than by itself: some 1 microsecond for 2.
 */
enum sl_status sl_capture_begin(sl_stream s);
enum sl_status sl_capture_end(sl_stream s, sl_graph *g);

/* Instead of the end: what was noted is forgotten. */
void sl_capture_drop(sl_stream s);

/* Queues all of it on s. Asynchronous. */
enum sl_status sl_graph_queue(sl_graph g, sl_stream s);
void sl_graph_free(sl_graph g);

/*
 * Queues a copy on s, between any two spaces. Asynchronous unless one side is SL_HOST
 * memory; both must stay valid until s has been waited for.
 */
enum sl_status sl_copy(void *to, const void *from, size_t bytes, sl_stream s);

/* Queues bytes of value on s. Asynchronous. */
enum sl_status sl_fill(void *to, int value, size_t bytes, sl_stream s);

SL_C_END

#endif
