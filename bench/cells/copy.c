/* copy.c - times a copy within device memory. */
#include "bench/cells/copy.h"

struct copy_call {
	void *from, *to;
	size_t bytes;
};

static enum sl_status run_copy(void *ctx)
{
	const struct copy_call *c = (const struct copy_call *)ctx;

	return sl_copy(c->to, c->from, c->bytes, NULL);
}

static enum sl_status time_copy(
	const struct sl_bench *b, struct copy_call *c, struct sl_call_times *times)
{
	const struct sl_timed_call timed = {c, NULL, run_copy};

	SL_TRY(sl_memory_get(SL_DEVICE, c->bytes, &c->from));
	SL_TRY(sl_memory_get(SL_DEVICE, c->bytes, &c->to));
	SL_TRY(sl_fill(c->from, 1, c->bytes, NULL));
	SL_TRY(run_copy(c));
	return sl_stopwatch_time(&b->watch, &timed, times);
}

enum sl_status sl_copy_time(const struct sl_bench *b, uint32_t n, struct sl_call_times *times)
{
	struct copy_call c = {.bytes = n * sizeof(uint32_t)};
	enum sl_status s = time_copy(b, &c, times);

	sl_memory_give(SL_DEVICE, c.from);
	sl_memory_give(SL_DEVICE, c.to);
	return sl_add_context(s, "copy of %u words", n);
}
