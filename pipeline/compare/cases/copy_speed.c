/*
 * copy_speed.c - times copies of blocks that are larger than any cache.
 *
 * Host copies are memcpy() by one thread, timed by the clock. Device copies are timed by events, so
 * that the cost of a launch is not counted.
 */
#include "pipeline/compare/cases/copy_speed.h"

#include <string.h>

#include "pipeline/compare/cases/case_run.h"
#include "primitives/base/clock.h"

/* Two blocks of 128 MiB exceed the L2 cache of a GPU and the share of the L3 cache of a core. */
#define BYTES_MOST ((uint64_t)128 << 20)
enum { COPIES = 11, SHARE = 8 };

struct copy {
	enum sl_space space;
	size_t bytes;
	void *from, *to;
	sl_event before, after; /* on a device */
};

static enum sl_status copy_once(struct copy *c, double *ms)
{
	uint64_t start = sl_now_ns();
	float took;

	if (c->space == SL_HOST) {
		memcpy(c->to, c->from, c->bytes);
		*ms = 1e-6 * (double)(sl_now_ns() - start);
		return SL_OK;
	}
	SL_TRY(sl_event_record(c->before, NULL));
	SL_TRY(sl_copy(c->to, c->from, c->bytes, NULL));
	SL_TRY(sl_event_record(c->after, NULL));
	SL_TRY(sl_event_wait(c->after));
	SL_TRY(sl_event_ms(c->before, c->after, &took));
	*ms = (double)took;
	return SL_OK;
}

static enum sl_status get(struct copy *c)
{
	SL_TRY(sl_memory_get(c->space, c->bytes, &c->from));
	SL_TRY(sl_memory_get(c->space, c->bytes, &c->to));
	if (c->space == SL_HOST)
		return SL_OK;
	SL_TRY(sl_event_make(&c->before));
	return sl_event_make(&c->after);
}

/* The first copy is not counted: it pays for the page faults. Factor 2: each byte is read, written. */
static enum sl_status time_copies(struct copy *c, double *gb_per_second)
{
	double ms[COPIES];

	if (c->space == SL_HOST)
		memset(c->from, 1, c->bytes);
	else
		SL_TRY(sl_fill(c->from, 1, c->bytes, NULL));
	SL_TRY(copy_once(c, &ms[0]));
	for (int i = 0; i < COPIES; i++)
		SL_TRY(copy_once(c, &ms[i]));
	*gb_per_second = 2e-6 * (double)c->bytes / sl_spread_of(ms, COPIES).median;
	return SL_OK;
}

enum sl_status sl_copy_speed(enum sl_space space, uint64_t free_bytes, double *gb_per_second)
{
	uint64_t bytes = free_bytes / SHARE / 2;
	struct copy c = {.space = space, .bytes = bytes < BYTES_MOST ? bytes : BYTES_MOST};
	enum sl_status s;

	*gb_per_second = 0;
	if (bytes == 0)
		return SL_OK;
	s = get(&c);
	if (s == SL_OK)
		s = time_copies(&c, gb_per_second);
	sl_event_free(c.before);
	sl_event_free(c.after);
	sl_memory_give(space, c.to);
	sl_memory_give(space, c.from);
	return sl_add_context(s, "measuring the copy speed");
}
