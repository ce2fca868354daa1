/* emulator.h - the emulated devices: launches, memory, queued work, and what kernel files call */
#ifndef SL_PRIMITIVES_EMULATOR_EMULATOR_H
#define SL_PRIMITIVES_EMULATOR_EMULATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"
#include "primitives/device/device.h"

SL_C_BEGIN

/* --- launch ----------------------------------------------------------------------------------- */

/*
 * A kernel launch on the emulated device: which blocks are in flight, and which thread runs.
 */

/* A launch of one-dimensional grid and blocks. */
struct sl_emulated_launch {
	const char *kernel;                /* its name, for messages */
	uint32_t blocks, threads;          /* grid size; threads per block */
	size_t shared_bytes;               /* dynamic shared memory per block */
	void (*call)(const void *closure); /* runs the kernel for one thread */
};

/* Most bytes of a closure: the kernel's function pointer and its arguments. */
enum { SL_CLOSURE_BYTES = 8192 };

/*
 * Runs all blocks of the launch to their end. Called by queue.c under the lock: one launch at a
 * time. Returns 0, SL_ERROR_MEMORY (host memory for the blocks) or SL_ERROR_LAUNCH (the kernel
 * violated a rule; sl_emulated_problem() says which). After an error the results are incomplete.
 */
int sl_emulated_run(const struct sl_emulated_launch *l, const void *closure);

/* What went wrong in the last launch that failed; "" if none has. */
const char *sl_emulated_problem(void);

/* For thread.c: a pseudo-random number below n, from the seed of the settings. */
uint32_t sl_random_below(uint32_t n);

/* For thread.c: fresh shared memory, filled; free() it. NULL if the host has no memory. */
void *sl_shared_get(size_t bytes);

/* --- memory ----------------------------------------------------------------------------------- */

/*
 * The memory of the emulated devices: pages that only their device may touch.
 *
 * The pages of an allocation are inaccessible while the host runs, so a host that dereferences a
 * device pointer crashes as it would with a GPU. An inaccessible guard page follows each
 * allocation. All calls are made under the lock.
 */

/*
 * The value of each byte of fresh device memory and shared memory: not 0, so that missing writes
 * are seen.
 */
enum { SL_EMULATED_FILL = 0xa5 };

/*
 * Allocates bytes of a device, all SL_EMULATED_FILL. Returns 0, or SL_ERROR_MEMORY if fewer are
 * free.
 */
int sl_emulated_memory_get(int device, size_t bytes, void **p);
void sl_emulated_memory_give(void *p);

/* Bytes of memory of a device that are free. */
size_t sl_emulated_memory_free(int device);

/* Makes the memory of a device accessible (the device runs) or inaccessible (the host runs). */
void sl_emulated_memory_set_accessible(int device, bool open);

/* Makes the allocation that contains p accessible or inaccessible, if there is one. */
void sl_emulated_block_set_accessible(const void *p, bool open);

/* The device into whose memory p points; -1: none. */
int sl_emulated_memory_device(const void *p);

/* Whether p points into the memory of some device. */
bool sl_emulated_memory_has(const void *p);

/* Whether p .. p + bytes begins in an allocation and ends outside it. */
bool sl_emulated_memory_overruns(const void *p, size_t bytes);

/* --- queue ------------------------------------------------------------------------------------ */

/*
 * The queued work of the emulated devices: streams, events and graphs.
 *
 * A stream is a ring of queued work. By default the work runs when the host waits for it, the
 * latest moment at which a real device may run it: a result that the host reads without waiting is
 * never ready. With queue=now it runs when it is queued, the earliest moment. A stream belongs to
 * the device for which it was made, and its kernels can access the memory of that device only.
 *
 * One lock protects all devices, their memory (memory.c) and their queued work, so one piece of work
 * runs at a time. The functions of queue.c take it, but for sl_emulated_streams_drain(). A stream of
 * NULL is the default stream of the current device of the thread. Functions of type int return 0 or
 * an error number of CUDA; after a failed launch, no work of its device runs, and calls that queue
 * work or wait for it return the error.
 */

extern __thread int sl_emulated_current; /* the current device, as with CUDA */

/* Holds the lock until the end of the scope. */
#define SL_EMULATED_LOCKED                                                             \
	__attribute__((cleanup(sl_emulated_unlock), unused)) pthread_mutex_t *locked = \
		sl_emulated_lock()
pthread_mutex_t *sl_emulated_lock(void);
void sl_emulated_unlock(pthread_mutex_t **locked);

/*
 * Queue a copy, a fill with bytes. SL_ERROR_MEMORY: no host memory. Streams of another device are
 * accepted. SL_ERROR_VALUE at once if the bytes exceed an allocation.
 */
int sl_emulated_queue_copy(void *to, const void *from, size_t bytes, sl_stream s);
int sl_emulated_queue_fill(void *to, int value, size_t bytes, sl_stream s);

/* Makes a stream of the device. The caller frees it, which runs its queued work first. */
int sl_emulated_stream_make(sl_stream *s);
void sl_emulated_stream_free(sl_stream s);

/* The number of a stream, which no other stream of the process has or had. */
uint64_t sl_emulated_stream_number(sl_stream s);

/* Run the queued work of s; of all streams of the device. SL_ERROR_CAPTURED while s is captured. */
int sl_emulated_stream_wait(sl_stream s);
int sl_emulated_stream_join(sl_stream s);

/* Runs the queued work of all streams of all devices. */
void sl_emulated_streams_drain(void);

/* Makes an event. The caller frees it, also while a recording of it is queued. */
int sl_emulated_event_make(sl_event *e);
void sl_emulated_event_free(sl_event e);

/* Queues a recording of e; runs the work up to its last recording. */
int sl_emulated_event_record(sl_event e, sl_stream s);
int sl_emulated_event_wait(sl_event e);

/* Sets *ms to the milliseconds between the last recordings; SL_ERROR_VALUE if one has not run. */
int sl_emulated_event_ms(sl_event from, sl_event to, float *ms);

/*
 * Until the end of the capture, work of s is added to a graph and not run. The capture ends
 * whatever sl_emulated_capture_end() returns. After success the caller frees *g; g = NULL discards
 * the graph.
 */
int sl_emulated_capture_begin(sl_stream s);
int sl_emulated_capture_end(sl_stream s, sl_graph *g);

/* Queues the work of a graph; frees a graph, or does nothing if g is NULL. */
int sl_emulated_graph_queue(sl_graph g, sl_stream s);
void sl_emulated_graph_free(sl_graph g);

/* --- driver ----------------------------------------------------------------------------------- */

/*
 * The driver of the emulated device: what a launch from a kernel file calls.
 *
 * The driver itself is sl_driver_emulated (primitives/device/device_driver.h).
 */

/* The compute capability of the emulated device: 75 or 90 for 7.5 or 9.0. */
uint32_t sl_emulated_capability(void);

/* The most bytes of shared memory of a block. */
size_t sl_emulated_shared_most(void);

/*
 * Queues a launch on stream s and returns 0 or an error number of CUDA; SL_ERROR_HANDLE: the stream
 * is of another device. Copies *l and closure_bytes <= SL_CLOSURE_BYTES of the closure; *l->kernel
 * must stay valid.
 */
SL_FOR_MODELS int sl_emulated_queue(
	const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes, sl_stream s);

SL_C_END

#endif
