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

#ifdef SL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

enum { PAGE = 4096, QUEUE_MOST = 64, LIMIT_SHARED = 96 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- choices ---------------------------------------------------------------------------------- */

static const struct sl_emulated_choices by_default = {.blocks = 1, .memory_bytes = (size_t)1 << 30};
static struct sl_emulated_choices choices;
static char choices_problem[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* "64M" as bytes; 0 when it is no number. */
static size_t bytes_of(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	static const char units[] = "KMG";
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (*end && (!unit || end[1]))
		return 0;
	return sl_size_mul((size_t)n, unit ? (size_t)1 << 10 * (unit - units + 1) : 1);
}

/* Reads "blocks=4"; false when it is not understood. */
static bool read_choice(const char *word, struct sl_emulated_choices *c)
{
	const char *value = strchr(word, '=');

	if (!value)
		return false;
	value++;
	if (strncmp(word, "blocks=", 7) == 0)
		return (c->blocks = (uint32_t)bytes_of(value)) >= 1;
	if (strncmp(word, "seed=", 5) == 0)
		return (c->seed = bytes_of(value)) >= 1;
	if (strncmp(word, "memory=", 7) == 0)
		return (c->memory_bytes = bytes_of(value)) >= 1;
	if (strcmp(word, "start=last") == 0)
		return c->from_last = true;
	if (strcmp(word, "queue=now") == 0)
		return c->at_once = true;
	return false;
}

static void read_choices(void)
{
	const char *text = getenv("SL_EMULATOR");
	char copy[256], *rest = copy;

	choices = by_default;
	if (!text || !text[0])
		return;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word; (word = strsep(&rest, ",")) != NULL;)
		if (!read_choice(word, &choices)) {
			snprintf(choices_problem, sizeof(choices_problem),
				"SL_EMULATOR: \"%.80s\" is not understood (blocks=N, seed=N, "
				"start=last, memory=N, queue=now are); try "
				"SL_EMULATOR=blocks=4,seed=7, or unset it",
				word);
			choices = by_default;
			return;
		}
}

const struct sl_emulated_choices *sl_emulated_chosen(void)
{
	pthread_once(&once, read_choices);
	return &choices;
}

void sl_emulated_choose(const struct sl_emulated_choices *c)
{
	pthread_once(&once, read_choices);
	choices = *c;
}

const char *sl_emulated_choices_problem(void)
{
	pthread_once(&once, read_choices);
	return choices_problem[0] ? choices_problem : NULL;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* A block of device memory: pages of its own, closed while the host runs, and one closed for good.
 */
struct block {
	struct block *next;
	char *at;
	size_t bytes, mapped;
};

static struct block *blocks;
static size_t used_bytes;

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

	if (pages > sl_emulated_chosen()->memory_bytes - used_bytes ||
		used_bytes > sl_emulated_chosen()->memory_bytes)
		return SL_ERROR_MEMORY;
	b = (struct block *)malloc(sizeof(*b));
	if (!b)
		return SL_ERROR_MEMORY;
	at = mmap(
		NULL, pages + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		free(b);
		return SL_ERROR_MEMORY;
	}
	*b = (struct block){blocks, (char *)at, bytes, pages + PAGE};
#ifdef SL_ADDRESS_SANITIZER
	__asan_poison_memory_region(b->at + bytes, pages - bytes);
#endif
	blocks = b;
	used_bytes += pages;
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
		used_bytes -= b->mapped - PAGE;
		(void)munmap(b->at, b->mapped);
		free(b);
		return;
	}
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
};

struct CUstream_st {
	uint32_t first, n; /* a ring */
	int error;         /* of work done, not yet told */
	struct work work[QUEUE_MOST];
};

static struct CUstream_st default_stream;

static struct CUstream_st *stream_of(sl_stream s)
{
	return s ? s : &default_stream;
}

static int do_work(struct work *w)
{
	switch (w->kind) {
	case COPY:
		memmove(w->to, w->from, w->bytes);
		return 0;
	case FILL:
		memset(w->to, w->value, w->bytes);
		return 0;
	case LAUNCH:
		return sl_emulated_run(&w->launch, w->closure);
	case MARK:
		w->event->passed = w->mark;
		w->event->ns = sl_now_ns();
		return 0;
	}
	return SL_ERROR_VALUE;
}

/* Does the work of s, of until at most, in order. What follows a failure is not done. */
static int drain(struct CUstream_st *s, const struct CUevent_st *until, uint64_t mark)
{
	int error;

	open_memory(true);
	while (s->n > 0 && (!until || until->passed < mark)) {
		struct work *w = &s->work[s->first];

		if (s->error == 0)
			s->error = do_work(w);
		s->first = (s->first + 1) % QUEUE_MOST;
		s->n--;
	}
	open_memory(false);
	error = s->error;
	s->error = 0;
	return error;
}

/* A place at the end of s. A full stream does its work first, as real ones block their caller. */
static struct work *next_work(struct CUstream_st *s, enum kind kind)
{
	struct work *w;

	if (s->n == QUEUE_MOST)
		s->error = drain(s, NULL, 0);
	w = &s->work[(s->first + s->n++) % QUEUE_MOST];
	w->kind = kind;
	return w;
}

static int queued(struct CUstream_st *s)
{
	return sl_emulated_chosen()->at_once ? drain(s, NULL, 0) : 0;
}

int sl_emulated_queue(const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes,
	sl_stream stream)
{
	struct CUstream_st *s = stream_of(stream);
	struct work *w;
	int error;

	if (l->blocks == 0 || l->threads == 0 || l->threads > SL_BLOCK_MOST ||
		l->shared_bytes > LIMIT_SHARED)
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
	return *s ? 0 : SL_ERROR_MEMORY;
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
	(void)stream_wait(s);
	free(s);
}

static int event_make(sl_event *e)
{
	*e = (sl_event)calloc(1, sizeof(**e));
	return *e ? 0 : SL_ERROR_MEMORY;
}

static void event_free(sl_event e)
{
	free(e);
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
	e->stream = s;
	error = queued(s);
	pthread_mutex_unlock(&lock);
	return error;
}

static int event_wait(sl_event e)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	if (e->stream && e->passed < e->recorded)
		error = drain(e->stream, e, e->recorded);
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
		*ms = 1e-6f * (float)(to->ns - from->ns);
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

static size_t free_bytes(void)
{
	size_t all = sl_emulated_chosen()->memory_bytes;

	return all > used_bytes ? all - used_bytes : 0;
}

static int use(int number, struct sl_device *device)
{
	device->number = number;
	snprintf(device->name, sizeof(device->name), "emulated");
	device->multiprocessors = 1;
	device->memory_bytes = sl_emulated_chosen()->memory_bytes;
	device->free_bytes = free_bytes();
	return 0;
}

static int limits(struct sl_limits *l)
{
	l->multiprocessors = 1;
	l->block_threads = SL_BLOCK_MOST;
	l->shared_bytes = LIMIT_SHARED;
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

static void give(enum sl_space space, void *p)
{
	if (space == SL_PINNED) {
		free(p);
		return;
	}
	pthread_mutex_lock(&lock);
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
