/*
 * driver.c - the driver of the emulated devices: streams, events and graphs. Memory is in memory.c.
 *
 * A stream is a ring of queued work. By default the work runs when the host waits for it, the
 * latest moment at which a real device may run it: a result that the host reads without waiting is
 * never ready. With queue=now it runs when it is queued, the earliest moment. One lock protects all
 * devices: one piece of work at a time. A stream belongs to the device that was current when it was made,
 * and its kernels can access the memory of that device only, or of devices that sl_device_reach() has named.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "memory.h"
#include "primitives/base/clock.h"
#include "primitives/base/size.h"
#include "primitives/device/device_driver.h"
#include "settings.h"
#include "thread.h"

enum { QUEUE_MOST = 64, MULTIPROCESSORS = 4 };

/* 7.5 is Turing, 9.0 is Hopper. */
uint32_t sl_emulated_capability(void)
{
	return sl_emulator_get_settings()->turing ? 75 : 90;
}

static size_t shared_most(void)
{
	return (size_t)(sl_emulator_get_settings()->turing ? 64 : 227) << 10;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- streams ---------------------------------------------------------------------------------- */

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
 * A graph owns copies of the captured work, with the arguments of its launches. n elements are used,
 * capacity are allocated. It grows while captured, and is constant after capture_end().
 */
struct CUgraphExec_st {
	uint32_t n, capacity;
	struct work *work;
};

static _Thread_local int current; /* the device of the calling thread */
static struct CUstream_st default_stream[SL_DEVICES_MAX];
static struct CUstream_st *streams;

/* For each device: the error of a failed launch. No work of the device is run after it. */
static int failed[SL_DEVICES_MAX];

/* The default streams always exist, so work that is queued on NULL has a ring too. */
static struct CUstream_st *stream_of(sl_stream s)
{
	if (s)
		return s;
	default_stream[current].device = current;
	default_stream[current].number = (uint64_t)current + 1;
	return &default_stream[current];
}

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

/* A copy can access the memory of every device. */
static void run_copy(const struct work *w, int device)
{
	const int at[] = {sl_emulated_memory_device(w->to), sl_emulated_memory_device(w->from)};
	bool opened = false;

	for (int i = 0; i < 2; i++)
		if (at[i] >= 0 && at[i] != device) {
			sl_emulated_memory_set_accessible(at[i], true);
			opened = true;
		}
	memmove(w->to, w->from, w->bytes);
	if (!opened)
		return;
	for (int i = 0; i < 2; i++)
		if (at[i] >= 0 && at[i] != device)
			sl_emulated_memory_set_accessible(at[i], false);
	sl_emulated_memory_set_accessible(device, true); /* the other one may have access to it */
}

/*
 * After a failure only the recordings of events are still counted, so that a freed event is released.
 * All other work is skipped, as on a device after a permanent failure.
 */
static void run_work(struct work *w, int device)
{
	if (w->kind == RECORD_EVENT)
		pass(w->event, w->mark, device);
	else if (failed[device] != 0)
		return;
	else if (w->kind == COPY)
		run_copy(w, device);
	else if (w->kind == FILL)
		memset(w->to, w->value, w->bytes);
	else
		failed[device] = sl_emulated_run(&w->launch, w->closure);
}

/*
 * Runs the queued work of s in order: up to recording `mark` of the event `until`, or all if until
 * is NULL.
 */
static int drain(struct CUstream_st *s, const struct CUevent_st *until, uint64_t mark)
{
	if (s->n == 0)
		return failed[s->device];
	sl_emulated_memory_set_accessible(s->device, true);
	while (s->n > 0 && (!until || until->passed < mark)) {
		run_work(&s->work[s->first], s->device);
		s->first = (s->first + 1) % QUEUE_MOST;
		s->n--;
	}
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
static struct work *append_work(struct CUstream_st *s, enum kind kind)
{
	struct work *w = s->captured ? append_to_graph(s->captured) : append_to_stream(s);

	if (w)
		w->kind = kind;
	return w;
}

/* Finishes the queueing of w; with queue=now, runs it. */
static int finish_queueing(struct CUstream_st *s, struct work *w)
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
	struct CUstream_st *s = stream_of(stream);
	int error = SL_ERROR_MEMORY;
	struct work *w;

	if (l->blocks == 0 || l->threads == 0 || l->threads > SL_BLOCK_MAX ||
		l->shared_bytes > shared_most())
		return SL_ERROR_VALUE;
	if (s->device != current)
		return SL_ERROR_HANDLE; /* as CUDA; copies and events it accepts */
	pthread_mutex_lock(&lock);
	w = append_work(s, LAUNCH);
	if (w) {
		w->launch = *l;
		memcpy(w->closure, closure, closure_bytes);
		error = finish_queueing(s, w);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/*
 * Queues a copy, or a fill (from is NULL). The bounds are checked here and not when the work runs, so
 * that the call with the error returns it. Memory that is not of the device has no bounds to check.
 */
static int queue_bytes(
	enum kind kind, void *to, const void *from, int value, size_t bytes, struct CUstream_st *s)
{
	int error = SL_ERROR_VALUE;
	struct work *w = NULL;

	pthread_mutex_lock(&lock);
	if (!sl_emulated_memory_overruns(to, bytes) && !sl_emulated_memory_overruns(from, bytes)) {
		w = append_work(s, kind);
		error = SL_ERROR_MEMORY;
	}
	if (w) {
		w->to = to;
		w->from = from;
		w->value = value;
		w->bytes = bytes;
		error = finish_queueing(s, w);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

static int copy(void *to, const void *from, size_t bytes, sl_stream stream)
{
	return queue_bytes(COPY, to, from, 0, bytes, stream_of(stream));
}

static int fill(void *to, int value, size_t bytes, sl_stream stream)
{
	return queue_bytes(FILL, to, NULL, value, bytes, stream_of(stream));
}

static int stream_make(sl_stream *s)
{
	static uint64_t made = SL_DEVICES_MAX;

	*s = (sl_stream)calloc(1, sizeof(**s));
	if (!*s)
		return SL_ERROR_MEMORY;
	(*s)->device = current;
	pthread_mutex_lock(&lock);
	(*s)->number = ++made;
	(*s)->next = streams;
	streams = *s;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int stream_wait(sl_stream s)
{
	int error;

	pthread_mutex_lock(&lock);
	error = stream_of(s)->captured ? SL_ERROR_CAPTURED : drain(stream_of(s), NULL, 0);
	pthread_mutex_unlock(&lock);
	return error;
}

/* The work of all streams runs at once: the latest moment at which work that follows on s may see it. */
static int stream_join(sl_stream stream)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	if (stream_of(stream)->captured)
		error = SL_ERROR_CAPTURED;
	for (struct CUstream_st *s = streams; s && error == 0; s = s->next)
		error = s->device == current ? drain(s, NULL, 0) : 0;
	if (error == 0)
		error = drain(stream_of(NULL), NULL, 0);
	pthread_mutex_unlock(&lock);
	return error;
}

static uint64_t stream_number(sl_stream s)
{
	return stream_of(s)->number;
}

/* Runs the queued work first, as cudaStreamDestroy() lets it end: results in memory stay complete. */
static void stream_free(sl_stream s)
{
	pthread_mutex_lock(&lock);
	(void)drain(s, NULL, 0);
	for (struct CUstream_st **at = &streams; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(s);
}

static int event_make(sl_event *e)
{
	*e = (sl_event)calloc(1, sizeof(**e));
	return *e ? 0 : SL_ERROR_MEMORY;
}

/* A recording that is still queued refers to the event, so the last pass() frees it. */
static void event_free(sl_event e)
{
	pthread_mutex_lock(&lock);
	e->freed = true;
	if (e->queued == 0)
		free(e);
	pthread_mutex_unlock(&lock);
}

static int event_record(sl_event e, sl_stream stream)
{
	struct CUstream_st *s = stream_of(stream);
	int error = SL_ERROR_MEMORY;
	struct work *w;

	pthread_mutex_lock(&lock);
	w = append_work(s, RECORD_EVENT);
	if (w) {
		w->event = e;
		error = finish_queueing(s, w);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/*
 * Runs only the work up to the last recording, and leaves later work queued: waiting for an event must
 * not hide that the host has forgotten to wait for what follows it.
 */
static int event_wait(sl_event e)
{
	int error;

	pthread_mutex_lock(&lock);
	error = failed[e->device];
	if (error == 0 && e->passed < e->recorded)
		error = drain(e->stream, e, e->recorded);
	pthread_mutex_unlock(&lock);
	return error;
}

/* The work before the event runs at once, as in stream_join(). */
static int stream_follow(sl_stream s, sl_event e)
{
	(void)s;
	return event_wait(e);
}

/* CUDA refuses events that were never recorded or are not passed yet; so does this function. */
static int event_ms(sl_event from, sl_event to, float *ms)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	if (from->recorded == 0 || to->recorded == 0 || from->passed < from->recorded ||
		to->passed < to->recorded)
		error = SL_ERROR_VALUE;
	else
		*ms = 1e-6f * (float)((int64_t)to->ns - (int64_t)from->ns);
	pthread_mutex_unlock(&lock);
	return error;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static void graph_free(sl_graph g)
{
	if (g)
		free(g->work);
	free(g);
}

/* As in CUDA, the default stream cannot be captured. */
static int capture_begin(sl_stream s)
{
	int error = SL_ERROR_CAPTURED;

	pthread_mutex_lock(&lock);
	if (s && !s->captured) {
		s->captured = (struct CUgraphExec_st *)calloc(1, sizeof(*s->captured));
		error = s->captured ? failed[s->device] : SL_ERROR_MEMORY;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* Ends the capture whatever it returns: the stream is usable, and the graph is freed after a failure. */
static int capture_end(sl_stream s, sl_graph *g)
{
	int error;

	pthread_mutex_lock(&lock);
	error = s->captured ? failed[s->device] : SL_ERROR_VALUE;
	if (g && error == 0)
		*g = s->captured;
	else
		graph_free(s->captured);
	s->captured = NULL;
	pthread_mutex_unlock(&lock);
	return error;
}

/* Copies the work of the graph to the ring, so the graph can be queued again before this work runs. */
static int graph_queue(sl_graph g, sl_stream stream)
{
	struct CUstream_st *s = stream_of(stream);
	int error;

	pthread_mutex_lock(&lock);
	error = s->captured ? SL_ERROR_CAPTURED : failed[s->device];
	for (uint32_t i = 0; i < g->n && error == 0; i++) {
		struct work *w = append_to_stream(s);

		*w = g->work[i];
		error = finish_queueing(s, w);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* --- the devices ------------------------------------------------------------------------------ */

static int count(int *n)
{
	*n = SL_DEVICES_MAX;
	return 0;
}

static void versions(int *driver, int *runtime)
{
	*driver = *runtime = 0;
}

static int use(int number, struct sl_device *device)
{
	current = number;
	if (!device)
		return 0;
	device->number = number;
	snprintf(device->name, sizeof(device->name), "emulated");
	device->major = (int)sl_emulated_capability() / 10;
	device->minor = (int)sl_emulated_capability() % 10;
	device->multiprocessors = MULTIPROCESSORS;
	device->memory_bytes = sl_emulator_get_settings()->memory_bytes;
	device->free_bytes = sl_emulated_memory_free(number);
	return 0;
}

static int current_device(int *number)
{
	*number = current;
	return 0;
}

static int limits(struct sl_limits *l)
{
	l->multiprocessors = MULTIPROCESSORS;
	l->block_threads = SL_BLOCK_MAX;
	l->shared_bytes = shared_most();
	return 0;
}

static int reach(int number, bool *reached)
{
	*reached = !sl_emulator_get_settings()->no_peers;
	if (*reached) {
		pthread_mutex_lock(&lock);
		sl_emulated_memory_reach(current, number);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

/* Pinned memory is ordinary memory here: the host may touch it at any time, as with CUDA. */
static int get(enum sl_space space, size_t bytes, void **p)
{
	int error;

	if (space == SL_PINNED) {
		*p = bytes <= PTRDIFF_MAX ? aligned_alloc(256, sl_round_up(bytes, 256)) : NULL;
		return *p ? 0 : SL_ERROR_MEMORY;
	}
	pthread_mutex_lock(&lock);
	error = sl_emulated_memory_get(current, bytes, p);
	pthread_mutex_unlock(&lock);
	return error;
}

/* Waits for all work of all devices first: cudaFree and cudaFreeHost wait for that of the current one. */
static void give(enum sl_space space, void *p)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < SL_DEVICES_MAX; i++)
		(void)drain(&default_stream[i], NULL, 0);
	for (struct CUstream_st *s = streams; s; s = s->next)
		(void)drain(s, NULL, 0);
	if (space == SL_PINNED)
		free(p);
	else
		sl_emulated_memory_give(p);
	pthread_mutex_unlock(&lock);
}

static size_t free_bytes(void)
{
	return sl_emulated_memory_free(current);
}

static bool on_device(const void *p)
{
	bool has;

	pthread_mutex_lock(&lock);
	has = sl_emulated_memory_has(p);
	pthread_mutex_unlock(&lock);
	return has;
}

static const char *error_text(int error)
{
	switch (error) {
	case SL_ERROR_MEMORY:
		return "out of memory";
	case SL_ERROR_LAUNCH:
		return sl_emulated_problem()[0] ? sl_emulated_problem() : "a launch failed";
	case SL_ERROR_VALUE:
		return "an argument is not valid";
	case SL_ERROR_HANDLE:
		return "the stream belongs to another device";
	case SL_ERROR_ADDRESS:
		return "an illegal address";
	case SL_ERROR_CAPTURED:
		return "not while a stream is captured";
	default:
		return "an error of the emulated device";
	}
}

const struct sl_driver sl_driver_emulated = {
	.name = "emulated",
	.count = count,
	.versions = versions,
	.use = use,
	.current = current_device,
	.limits = limits,
	.reach = reach,
	.get = get,
	.give = give,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.stream_make = stream_make,
	.stream_free = stream_free,
	.stream_wait = stream_wait,
	.stream_join = stream_join,
	.stream_follow = stream_follow,
	.stream_number = stream_number,
	.event_make = event_make,
	.event_free = event_free,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_ms = event_ms,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_queue = graph_queue,
	.graph_free = graph_free,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
	.settings_problem = sl_emulator_settings_problem,
};
