/*
 * device_queue.c - what is queued on the current device: streams, events, graphs and copies. See
 * device.h.
 */
#include "device.h"

#include "device_driver.h"
#include "primitives/base/fault.h"

/*
 * The error that a call must report without calling the driver, or 0. has: whether the driver has
 * the function; that of a build without CUDA lacks those that need a device.
 */
static int error_before(const char *fault, bool has)
{
	int error = sl_driver_error_before(fault);

	return error != 0 || has ? error : SL_ERROR_NO_DEVICE;
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
	if (s && !sl_device_has_failed_now())
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
	if (e && !sl_device_has_failed_now())
		sl_driver_in_use()->event_free(e);
}

enum sl_status sl_event_record(sl_event e, sl_stream s)
{
	const struct sl_driver *d = sl_driver_in_use();
	int error = error_before("dev_record", d->event_record != NULL);

	return sl_driver_status(error != 0 ? error : d->event_record(e, s), "recording an event");
}

enum sl_status sl_event_wait(sl_event e)
{
	const struct sl_driver *d = sl_driver_in_use();
	int error = error_before("dev_sync", d->event_wait != NULL);

	return sl_driver_status(error != 0 ? error : d->event_wait(e), "waiting for queued work");
}

enum sl_status sl_event_ms(sl_event from, sl_event to, float *ms)
{
	const struct sl_driver *d = sl_driver_in_use();
	int error = error_before("dev_elapsed", d->event_ms != NULL);

	*ms = 0;
	return sl_driver_status(
		error != 0 ? error : d->event_ms(from, to, ms), "reading the time between events");
}

/* --- graphs ----------------------------------------------------------------------------------- */

enum sl_status sl_capture_begin(sl_stream s)
{
	const struct sl_driver *d = sl_driver_in_use();
	int error = error_before("dev_capture", d->capture_begin != NULL);

	return sl_driver_status(error != 0 ? error : d->capture_begin(s), "capturing a stream");
}

enum sl_status sl_capture_end(sl_stream s, sl_graph *g)
{
	const struct sl_driver *d = sl_driver_in_use();
	int error = error_before("dev_graph", d->capture_end != NULL);

	*g = NULL;
	if (error == 0)
		error = d->capture_end(s, g);
	else
		sl_capture_drop(s);
	return sl_driver_status(error, "creating a graph");
}

/* Without a status: it runs after a failure whose message must stay the last one. */
void sl_capture_drop(sl_stream s)
{
	if (!sl_device_has_failed_now() && sl_driver_in_use()->capture_end)
		(void)sl_driver_in_use()->capture_end(s, NULL);
}

enum sl_status sl_graph_queue(sl_graph g, sl_stream s)
{
	const struct sl_driver *d = sl_driver_in_use();
	int error = error_before("dev_replay", d->graph_queue != NULL);

	return sl_driver_status(error != 0 ? error : d->graph_queue(g, s), "queueing a graph");
}

void sl_graph_free(sl_graph g)
{
	if (g && !sl_device_has_failed_now())
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

/*
 * Both faults are counted in each call, so that their numbers do not depend on the size of a copy.
 */
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
