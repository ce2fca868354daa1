/*
 * queue.h - the queued work of the emulated devices: streams, events and graphs.
 *
 * A stream is a ring of queued work. By default the work runs when the host waits for it, the
 * latest moment at which a real device may run it: a result that the host reads without waiting is
 * never ready. With queue=now it runs when it is queued, the earliest moment. A stream belongs to
 * the device for which it was made, and its kernels can access the memory of that device only.
 *
 * The driver (driver.c) makes all calls under its lock, so one piece of work runs at a time; only
 * sl_emulated_event_make() and sl_emulated_graph_free() need no lock. A stream of NULL is the
 * default stream of the given device. Functions of type int return 0 or an error number of CUDA;
 * after a failed launch, no work of its device runs, and calls that queue work or wait for it
 * return the error.
 */
#ifndef SL_PRIMITIVES_EMULATOR_QUEUE_H
#define SL_PRIMITIVES_EMULATOR_QUEUE_H

#include "launch.h"
#include "primitives/device/device.h"

/*
 * Queue a launch, a copy, a fill with bytes. SL_ERROR_MEMORY: no host memory. A launch copies *l
 * and closure_bytes <= SL_CLOSURE_BYTES of the closure; SL_ERROR_HANDLE: the stream is of another
 * device; copies and fills accept it. A copy or fill that exceeds an allocation gives
 * SL_ERROR_VALUE at once.
 */
int sl_emulated_queue_launch(const struct sl_emulated_launch *l, const void *closure,
	size_t closure_bytes, sl_stream s, int device);
int sl_emulated_queue_copy(void *to, const void *from, size_t bytes, sl_stream s, int device);
int sl_emulated_queue_fill(void *to, int value, size_t bytes, sl_stream s, int device);

/* Makes a stream of the device. The caller frees it, which runs its queued work first. */
int sl_emulated_stream_make(sl_stream *s, int device);
void sl_emulated_stream_free(sl_stream s);

/* The number of a stream, which no other stream of the process has or had. */
uint64_t sl_emulated_stream_number(sl_stream s, int device);

/* Run the queued work of s; of all streams of the device. SL_ERROR_CAPTURED while s is captured. */
int sl_emulated_stream_wait(sl_stream s, int device);
int sl_emulated_stream_join(sl_stream s, int device);

/* Runs the queued work of all streams of all devices. */
void sl_emulated_streams_drain(void);

/* Makes an event. The caller frees it, also while a recording of it is queued. */
int sl_emulated_event_make(sl_event *e);
void sl_emulated_event_free(sl_event e);

/* Queues a recording of e; runs the work up to its last recording. */
int sl_emulated_event_record(sl_event e, sl_stream s, int device);
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
int sl_emulated_graph_queue(sl_graph g, sl_stream s, int device);
void sl_emulated_graph_free(sl_graph g);

#endif
