/*
 * device_emulated.c - the driver of the emulated device: memory that the host cannot touch, streams
 * that do their work when it is waited for.
 *
 * A stream is a list of work to come. By default it is done no sooner than somebody waits, the
 * latest that a real device may do it: a result that is read without waiting is never there. (With
 * queue=now it is done at once, the soonest.) One lock is the device: one piece of work at a time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "device_driver.h"
#include "emulated.h"
#include "size.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(p, bytes) 0
#endif

#ifdef SL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

enum { PAGE = 4096, QUEUE_MOST = 64, MULTIPROCESSORS = 4 };

/* Turing's and Hopper's own. */
uint32_t sl_emulated_capability(void)
{
	return sl_emulated_chosen()->turing ? 75 : 90;
}

static size_t shared_most(void)
{
	return (size_t)(sl_emulated_chosen()->turing ? 64 : 227) << 10;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- memory ----------------------------------------------------------------------------------- */

/* A block of device memory: pages that are closed while the host runs, and one closed for good. */
struct block {
	struct block *next;
	char *at;
	size_t bytes, mapped;
};

static struct block *blocks;
static size_t used_bytes; /* as asked for: the cap is held to the byte */

static size_t free_bytes(void)
{
	size_t all = sl_emulated_chosen()->memory_bytes;

	return all > used_bytes ? all - used_bytes : 0;
}

static void open_memory(bool open)
{
	for (struct block *b = blocks; b; b = b->next)
		(void)mprotect(b->at, b->mapped - PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static int get_device(size_t bytes, void **p)
{
	size_t pages = sl_round_up(bytes, PAGE);
	struct block *b;
	void *at;

	if (bytes > free_bytes())
		return SL_ERROR_MEMORY;
	b = (struct block *)malloc(sizeof(*b));
	if (!b)
		return SL_ERROR_MEMORY;
	at = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		free(b);
		return SL_ERROR_MEMORY;
	}
	*b = (struct block){blocks, (char *)at, bytes, pages + PAGE};
	memset(at, SL_EMULATED_FILL, bytes);
	(void)VALGRIND_MAKE_MEM_UNDEFINED(at, bytes);
	(void)mprotect(at, pages + PAGE, PROT_NONE);
#ifdef SL_ADDRESS_SANITIZER
	__asan_poison_memory_region(b->at + bytes, pages - bytes);
#endif
	blocks = b;
	used_bytes += bytes;
	*p = at;
	return 0;
}

static void give_device(void *p)
{
	for (struct block **at = &blocks; *at; at = &(*at)->next) {
		struct block *b = *at;

		if (b->at != (char *)p)
			continue;
#ifdef SL_ADDRESS_SANITIZER
		__asan_unpoison_memory_region(b->at, b->mapped);
#endif
		*at = b->next;
		used_bytes -= b->bytes;
		(void)munmap(b->at, b->mapped);
		free(b);
		return;
	}
}

static bool on_device(const void *p)
{
	const char *at = (const char *)p;
	bool found = false;

	pthread_mutex_lock(&lock);
	for (const struct block *b = blocks; b && !found; b = b->next)
		found = at >= b->at && at < b->at + b->bytes;
	pthread_mutex_unlock(&lock);
	return found;
}

/* Does p .. p + bytes begin in device memory and leave its block? */
static bool is_outside(const void *p, size_t bytes)
{
	const char *at = (const char *)p;

	for (const struct block *b = blocks; b; b = b->next)
		if (at >= b->at && at < b->at + b->mapped)
			return bytes > b->bytes || (size_t)(at - b->at) > b->bytes - bytes;
	return false;
}

/* --- streams ---------------------------------------------------------------------------------- */

enum kind { COPY, FILL, LAUNCH, MARK };

struct work {
	enum kind kind;
	void *to;
	const void *from;
	int value;
	size_t bytes;
	struct sl_emulated_launch launch;
	struct CUevent_st *event;
	uint64_t mark; /* which recording of the event */
	_Alignas(16) unsigned char closure[SL_CLOSURE_BYTES];
};

struct CUevent_st {
	struct CUstream_st *stream; /* of the last recording */
	uint64_t recorded, passed;  /* how often */
	uint64_t ns;                /* when it was passed last */
	uint32_t queued;            /* recordings that a stream has yet to come to */
	bool freed;                 /* to be, after the last of them */
};

struct CUstream_st {
	struct CUstream_st *next; /* of all */
	uint32_t first, n;        /* a ring */
	struct work work[QUEUE_MOST];
};

static struct CUstream_st default_stream;
static struct CUstream_st *streams = &default_stream;
static int failed; /* the error of a launch: nothing is done any more */

static struct CUstream_st *stream_of(sl_stream s)
{
	return s ? s : &default_stream;
}

/* The stream has come to the mark, or would have. */
static void pass(struct CUevent_st *e, uint64_t mark)
{
	e->queued--;
	if (failed == 0) {
		e->passed = mark;
		e->ns = sl_now_ns();
	}
	if (e->freed && e->queued == 0)
		free(e);
}

static void do_work(struct work *w)
{
	if (w->kind == MARK)
		pass(w->event, w->mark);
	else if (failed != 0)
		return;
	else if (w->kind == COPY)
		memmove(w->to, w->from, w->bytes);
	else if (w->kind == FILL)
		memset(w->to, w->value, w->bytes);
	else
		failed = sl_emulated_run(&w->launch, w->closure);
}

/* Does the work of s, as far as the event's mark, all without one, in order. */
static int drain(struct CUstream_st *s, const struct CUevent_st *until, uint64_t mark)
{
	if (s->n == 0)
		return failed;
	open_memory(true);
	while (s->n > 0 && (!until || until->passed < mark)) {
		do_work(&s->work[s->first]);
		s->first = (s->first + 1) % QUEUE_MOST;
		s->n--;
	}
	open_memory(false);
	return failed;
}

/* A place at the end of s. A full stream does its work first, as real ones block their caller. */
static struct work *next_work(struct CUstream_st *s, enum kind kind)
{
	struct work *w;

	if (s->n == QUEUE_MOST)
		(void)drain(s, NULL, 0);
	w = &s->work[(s->first + s->n++) % QUEUE_MOST];
	w->kind = kind;
	return w;
}

static int queued(struct CUstream_st *s)
{
	return sl_emulated_chosen()->at_once ? drain(s, NULL, 0) : failed;
}

int sl_emulated_queue(const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes,
	sl_stream stream)
{
	struct CUstream_st *s = stream_of(stream);
	struct work *w;
	int error;

	if (l->blocks == 0 || l->threads == 0 || l->threads > SL_BLOCK_MOST ||
		l->shared_bytes > shared_most())
		return SL_ERROR_VALUE;
	pthread_mutex_lock(&lock);
	w = next_work(s, LAUNCH);
	w->launch = *l;
	memcpy(w->closure, closure, closure_bytes);
	error = queued(s);
	pthread_mutex_unlock(&lock);
	return error;
}

static int copy(void *to, const void *from, size_t bytes, sl_stream stream)
{
	struct CUstream_st *s = stream_of(stream);
	int error = SL_ERROR_VALUE;
	struct work *w;

	pthread_mutex_lock(&lock);
	if (!is_outside(to, bytes) && !is_outside(from, bytes)) {
		w = next_work(s, COPY);
		w->to = to;
		w->from = from;
		w->bytes = bytes;
		error = queued(s);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

static int fill(void *to, int value, size_t bytes, sl_stream stream)
{
	struct CUstream_st *s = stream_of(stream);
	int error = SL_ERROR_VALUE;
	struct work *w;

	pthread_mutex_lock(&lock);
	if (!is_outside(to, bytes)) {
		w = next_work(s, FILL);
		w->to = to;
		w->value = value;
		w->bytes = bytes;
		error = queued(s);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

static int stream_make(sl_stream *s)
{
	*s = (sl_stream)calloc(1, sizeof(**s));
	if (!*s)
		return SL_ERROR_MEMORY;
	pthread_mutex_lock(&lock);
	(*s)->next = streams;
	streams = *s;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int stream_wait(sl_stream s)
{
	int error;

	pthread_mutex_lock(&lock);
	error = drain(stream_of(s), NULL, 0);
	pthread_mutex_unlock(&lock);
	return error;
}

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
	struct work *w;
	int error;

	pthread_mutex_lock(&lock);
	w = next_work(s, MARK);
	w->event = e;
	w->mark = ++e->recorded;
	e->queued++;
	e->stream = s;
	error = queued(s);
	pthread_mutex_unlock(&lock);
	return error;
}

static int event_wait(sl_event e)
{
	int error;

	pthread_mutex_lock(&lock);
	if (failed == 0 && e->passed < e->recorded)
		(void)drain(e->stream, e, e->recorded);
	error = failed;
	pthread_mutex_unlock(&lock);
	return error;
}

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

/* --- the device ------------------------------------------------------------------------------- */

static int count(int *n)
{
	*n = 1;
	return 0;
}

static void versions(int *driver, int *runtime)
{
	*driver = *runtime = 0;
}

static int use(int number, struct sl_device *device)
{
	device->number = number;
	snprintf(device->name, sizeof(device->name), "emulated");
	device->major = (int)sl_emulated_capability() / 10;
	device->minor = (int)sl_emulated_capability() % 10;
	device->multiprocessors = MULTIPROCESSORS;
	device->memory_bytes = sl_emulated_chosen()->memory_bytes;
	device->free_bytes = free_bytes();
	return 0;
}

static int limits(struct sl_limits *l)
{
	l->multiprocessors = MULTIPROCESSORS;
	l->block_threads = SL_BLOCK_MOST;
	l->shared_bytes = shared_most();
	return 0;
}

static int get(enum sl_space space, size_t bytes, void **p)
{
	int error;

	if (space == SL_PINNED) {
		*p = bytes <= PTRDIFF_MAX ? aligned_alloc(256, sl_round_up(bytes, 256)) : NULL;
		return *p ? 0 : SL_ERROR_MEMORY;
	}
	pthread_mutex_lock(&lock);
	error = get_device(bytes, p);
	pthread_mutex_unlock(&lock);
	return error;
}

/* Waits for all work, as cudaFree and cudaFreeHost do. */
static void give(enum sl_space space, void *p)
{
	pthread_mutex_lock(&lock);
	for (struct CUstream_st *s = streams; s; s = s->next)
		(void)drain(s, NULL, 0);
	if (space == SL_PINNED)
		free(p);
	else
		give_device(p);
	pthread_mutex_unlock(&lock);
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
	case SL_ERROR_ADDRESS:
		return "an illegal address";
	default:
		return "an error of the emulated device";
	}
}

const struct sl_driver sl_driver_emulated = {
	.name = "emulated",
	.count = count,
	.versions = versions,
	.use = use,
	.limits = limits,
	.get = get,
	.give = give,
	.free_bytes = free_bytes,
	.on_device = on_device,
	.stream_make = stream_make,
	.stream_free = stream_free,
	.stream_wait = stream_wait,
	.event_make = event_make,
	.event_free = event_free,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_ms = event_ms,
	.copy = copy,
	.fill = fill,
	.error_text = error_text,
};
