/* queue.c - see emulator.h. */
#include "primitives/emulator/emulator.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/device/device_driver.h"
#include "settings.h"
#include "thread.h"

enum { QUEUE_MOST = 64 };

enum kind { COPY, FILL, LAUNCH, RECORD_EVENT };

struct work {
	enum kind kind;
	void *to;
	const void *from;
	int value;
	size_t bytes;
	struct sl_emulated_launch launch;
	struct CUevent_st *event;
	uint64_t mark; /* number of this recording of the event */
	_Alignas(16) unsigned char closure[SL_CLOSURE_BYTES];
};

struct CUevent_st {
	struct CUstream_st *stream; /* of its last recording; freed, perhaps, once that is passed */
	int device;                 /* of that stream */
	uint64_t recorded, passed;  /* number of recordings: queued; passed by the stream */
	uint64_t ns;                /* time of the last pass */
	uint32_t queued;            /* recordings that no stream has passed yet */
	bool freed;                 /* free it when queued is 0 */
};

struct CUstream_st {
	struct CUstream_st *next; /* list of all streams but the default ones */
	int device;
	struct CUgraphExec_st *captured; /* during a capture: the graph that work is added to */
	uint64_t number;                 /* of the process; those of default streams come first */
	uint32_t first, n;               /* first element and length of the ring */
	struct work work[QUEUE_MOST];
};

/*
 * A graph owns copies of the captured work, with the arguments of its launches. n elements are
 * used, capacity are allocated. It grows while captured, and is constant after the capture.
 */
struct CUgraphExec_st {
	uint32_t n, capacity;
	struct work *work;
};

static struct CUstream_st default_stream[SL_DEVICES_MAX];
static struct CUstream_st *streams;

/* For each device: the error of a failed launch. No work of the device is run after it. */
static int failed[SL_DEVICES_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__thread int sl_emulated_current;

pthread_mutex_t *sl_emulated_lock(void)
{
	pthread_mutex_lock(&lock);
	return &lock;
}

void sl_emulated_unlock(pthread_mutex_t **locked)
{
	pthread_mutex_unlock(*locked);
}

/* The default streams always exist, so work that is queued on NULL has a ring too. */
static struct CUstream_st *stream_of(sl_stream s)
{
	const int device = sl_emulated_current;

	if (s)
		return s;
	default_stream[device].device = device;
	default_stream[device].number = (uint64_t)device + 1;
	return &default_stream[device];
}

/* --- work ------------------------------------------------------------------------------------- */

/* A stream of the device passes a recording of e; after a failure it is only counted. */
static void pass(struct CUevent_st *e, uint64_t mark, int device)
{
	e->queued--;
	if (failed[device] == 0) {
		e->passed = mark;
		e->ns = sl_now_ns();
	}
	if (e->freed && e->queued == 0)
		free(e);
}

/*
 * Makes the allocations that a copy or a fill uses accessible or inaccessible, on every device but
 * `except`, whose memory is accessible already; -1: on every device.
 */
static void set_accessible(const struct work *w, int except, bool open)
{
	const void *const at[] = {w->to, w->kind == COPY ? w->from : NULL};

	for (int i = 0; i < 2; i++)
		if (sl_emulated_memory_device(at[i]) != except)
			sl_emulated_block_set_accessible(at[i], open);
}

static void run_copy_or_fill(const struct work *w, int except)
{
	set_accessible(w, except, true);
	if (w->kind == COPY)
		memmove(w->to, w->from, w->bytes);
	else
		memset(w->to, w->value, w->bytes);
	set_accessible(w, except, false);
}

/* Many copies have no launch between them, so a copy does not make all memory accessible. */
static void run_launch(struct work *w, int device, bool *open)
{
	if (!*open)
		sl_emulated_memory_set_accessible(device, true);
	*open = true;
	failed[device] = sl_emulated_run(&w->launch, w->closure);
}

/*
 * After a failure only the recordings of events are still counted, so that a freed event is
 * released. All other work is skipped, as on a device after a permanent failure. *open: the memory
 * of the device is accessible.
 */
static void run_work(struct work *w, int device, bool *open)
{
	if (w->kind == RECORD_EVENT)
		pass(w->event, w->mark, device);
	else if (failed[device] != 0)
		return;
	else if (w->kind == COPY || w->kind == FILL)
		run_copy_or_fill(w, *open ? device : -1);
	else
		run_launch(w, device, open);
}

/*
 * Runs the queued work of s in order: up to recording `mark` of the event `until`, or all if until
 * is NULL.
 */
static int drain(struct CUstream_st *s, const struct CUevent_st *until, uint64_t mark)
{
	bool open = false;

	while (s->n > 0 && (!until || until->passed < mark)) {
		run_work(&s->work[s->first], s->device, &open);
		s->first = (s->first + 1) % QUEUE_MOST;
		s->n--;
	}
	if (open)
		sl_emulated_memory_set_accessible(s->device, false);
	return failed[s->device];
}

/* Appends an element to a graph, which doubles its capacity when full. NULL: no host memory. */
static struct work *append_to_graph(struct CUgraphExec_st *g)
{
	if (g->n == g->capacity) {
		uint32_t capacity = g->capacity > 0 ? 2 * g->capacity : QUEUE_MOST;
		void *more = realloc(g->work, capacity * sizeof(*g->work));

		if (!more)
			return NULL;
		g->work = (struct work *)more;
		g->capacity = capacity;
	}
	return &g->work[g->n++];
}

/* Appends an element to s. A full stream runs its work first; a real one blocks the caller. */
static struct work *append_to_stream(struct CUstream_st *s)
{
	if (s->n == QUEUE_MOST)
		(void)drain(s, NULL, 0);
	return &s->work[(s->first + s->n++) % QUEUE_MOST];
}

/* Appends an element to s, or to the graph that s is being captured to. NULL: no host memory. */
static struct work *append(struct CUstream_st *s, enum kind kind)
{
	struct work *w = s->captured ? append_to_graph(s->captured) : append_to_stream(s);

	if (w)
		w->kind = kind;
	return w;
}

/* Finishes the queueing of w; with queue=now, runs it. */
static int finish(struct CUstream_st *s, struct work *w)
{
	if (s->captured)
		return failed[s->device];
	if (w->kind == RECORD_EVENT) {
		w->mark = ++w->event->recorded;
		w->event->queued++;
		w->event->stream = s;
		w->event->device = s->device;
	}
	return sl_emulator_get_settings()->at_once ? drain(s, NULL, 0) : failed[s->device];
}

int sl_emulated_queue(const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes,
	sl_stream stream)
{
	SL_EMULATED_LOCKED;
	struct CUstream_st *s = stream_of(stream);
	struct work *w;

	if (l->blocks == 0 || l->threads == 0 || l->threads > SL_BLOCK_MAX ||
		l->shared_bytes > sl_emulated_shared_most())
		return SL_ERROR_VALUE;
	if (s->device != sl_emulated_current)
		return SL_ERROR_HANDLE;
	w = append(s, LAUNCH);
	if (!w)
		return SL_ERROR_MEMORY;
	w->launch = *l;
	memcpy(w->closure, closure, closure_bytes);
	return finish(s, w);
}

/*
 * Queues a copy, or a fill (from is NULL). The bounds are checked here and not when the work runs,
 * so that the call with the error returns it. Memory that is not of the device has no bounds to
 * check.
 */
static int queue_bytes(
	enum kind kind, void *to, const void *from, int value, size_t bytes, sl_stream stream)
{
	SL_EMULATED_LOCKED;
	struct CUstream_st *s = stream_of(stream);
	struct work *w;

	if (sl_emulated_memory_overruns(to, bytes) || sl_emulated_memory_overruns(from, bytes))
		return SL_ERROR_VALUE;
	w = append(s, kind);
	if (!w)
		return SL_ERROR_MEMORY;
	w->to = to;
	w->from = from;
	w->value = value;
	w->bytes = bytes;
	return finish(s, w);
}

int sl_emulated_queue_copy(void *to, const void *from, size_t bytes, sl_stream s)
{
	return queue_bytes(COPY, to, from, 0, bytes, s);
}

int sl_emulated_queue_fill(void *to, int value, size_t bytes, sl_stream s)
{
	return queue_bytes(FILL, to, NULL, value, bytes, s);
}

/* --- streams ---------------------------------------------------------------------------------- */

int sl_emulated_stream_make(sl_stream *s)
{
	SL_EMULATED_LOCKED;
	static uint64_t made = SL_DEVICES_MAX;

	*s = (sl_stream)calloc(1, sizeof(**s));
	if (!*s)
		return SL_ERROR_MEMORY;
	(*s)->device = sl_emulated_current;
	(*s)->number = ++made;
	(*s)->next = streams;
	streams = *s;
	return 0;
}

/*
 * Runs the queued work first, as cudaStreamDestroy() lets it end: results in memory stay complete.
 */
void sl_emulated_stream_free(sl_stream s)
{
	SL_EMULATED_LOCKED;

	(void)drain(s, NULL, 0);
	for (struct CUstream_st **at = &streams; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	free(s);
}

uint64_t sl_emulated_stream_number(sl_stream s)
{
	SL_EMULATED_LOCKED;

	return stream_of(s)->number;
}

int sl_emulated_stream_wait(sl_stream stream)
{
	SL_EMULATED_LOCKED;
	struct CUstream_st *s = stream_of(stream);

	return s->captured ? SL_ERROR_CAPTURED : drain(s, NULL, 0);
}

/*
 * The work of all streams runs at once: the latest moment at which work that follows on s may see
 * it.
 */
int sl_emulated_stream_join(sl_stream stream)
{
	SL_EMULATED_LOCKED;
	int error = stream_of(stream)->captured ? SL_ERROR_CAPTURED : 0;

	for (struct CUstream_st *s = streams; s && error == 0; s = s->next)
		error = s->device == sl_emulated_current ? drain(s, NULL, 0) : 0;
	return error != 0 ? error : drain(stream_of(NULL), NULL, 0);
}

void sl_emulated_streams_drain(void)
{
	for (int i = 0; i < SL_DEVICES_MAX; i++)
		(void)drain(&default_stream[i], NULL, 0);
	for (struct CUstream_st *s = streams; s; s = s->next)
		(void)drain(s, NULL, 0);
}

/* --- events ----------------------------------------------------------------------------------- */

int sl_emulated_event_make(sl_event *e)
{
	*e = (sl_event)calloc(1, sizeof(**e));
	return *e ? 0 : SL_ERROR_MEMORY;
}

/* A recording that is still queued refers to the event, so the last pass() frees it. */
void sl_emulated_event_free(sl_event e)
{
	SL_EMULATED_LOCKED;

	e->freed = true;
	if (e->queued == 0)
		free(e);
}

int sl_emulated_event_record(sl_event e, sl_stream stream)
{
	SL_EMULATED_LOCKED;
	struct CUstream_st *s = stream_of(stream);
	struct work *w = append(s, RECORD_EVENT);

	if (!w)
		return SL_ERROR_MEMORY;
	w->event = e;
	return finish(s, w);
}

/*
 * Runs only the work up to the last recording, and leaves later work queued: waiting for an event
 * must not hide that the host has forgotten to wait for what follows it.
 */
int sl_emulated_event_wait(sl_event e)
{
	SL_EMULATED_LOCKED;
	int error = failed[e->device];

	return error == 0 && e->passed < e->recorded ? drain(e->stream, e, e->recorded) : error;
}

/* CUDA refuses events that were never recorded or are not passed yet; so does this function. */
int sl_emulated_event_ms(sl_event from, sl_event to, float *ms)
{
	SL_EMULATED_LOCKED;

	if (from->recorded == 0 || to->recorded == 0 || from->passed < from->recorded ||
		to->passed < to->recorded)
		return SL_ERROR_VALUE;
	*ms = 1e-6f * (float)((int64_t)to->ns - (int64_t)from->ns);
	return 0;
}

/* --- graphs ----------------------------------------------------------------------------------- */

void sl_emulated_graph_free(sl_graph g)
{
	if (g)
		free(g->work);
	free(g);
}

/* As in CUDA, the default stream cannot be captured. */
int sl_emulated_capture_begin(sl_stream s)
{
	SL_EMULATED_LOCKED;

	if (!s || s->captured)
		return SL_ERROR_CAPTURED;
	s->captured = (struct CUgraphExec_st *)calloc(1, sizeof(*s->captured));
	return s->captured ? failed[s->device] : SL_ERROR_MEMORY;
}

int sl_emulated_capture_end(sl_stream s, sl_graph *g)
{
	SL_EMULATED_LOCKED;
	int error = s->captured ? failed[s->device] : SL_ERROR_VALUE;

	if (g && error == 0)
		*g = s->captured;
	else
		sl_emulated_graph_free(s->captured);
	s->captured = NULL;
	return error;
}

/*
 * Copies the work of the graph to the ring, so the graph can be queued again before this work runs.
 */
int sl_emulated_graph_queue(sl_graph g, sl_stream stream)
{
	SL_EMULATED_LOCKED;
	struct CUstream_st *s = stream_of(stream);
	int error = s->captured ? SL_ERROR_CAPTURED : failed[s->device];

	for (uint32_t i = 0; i < g->n && error == 0; i++) {
		struct work *w = append_to_stream(s);

		*w = g->work[i];
		error = finish(s, w);
	}
	return error;
}
