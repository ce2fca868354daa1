/* gather.c - see filter.h. */
#include "python/src/filter/filter.h"

#include <string.h>

#include "python/src/lists/lists.h"

enum { BLOCK = 1 << 16 };

struct gathering {
	const struct sl_py_array *a;
	const uint32_t *index;
	uint32_t n;
	char *to;
	bool (*stop)(void *ctx);
};

static bool stop(void *ctx)
{
	return ((struct gathering *)ctx)->stop(NULL);
}

/* With the size of an item as a constant, each copy is one instruction. */
#define COPY(size)                                                                           \
	case size:                                                                           \
		for (size_t j = from; j < end; j++)                                          \
			memcpy(to + j * (size), at + (ptrdiff_t)g->index[j] * stride, size); \
		break;

static enum sl_status copy_block(void *ctx, unsigned thread, size_t k)
{
	const struct gathering *g = (const struct gathering *)ctx;
	const char *at = (const char *)g->a->data;
	const ptrdiff_t stride = g->a->stride;
	size_t from = k * BLOCK, end = g->n - from < BLOCK ? g->n : from + BLOCK;
	char *to = g->to;

	(void)thread;
	switch (g->a->bytes) {
		COPY(1)
		COPY(2)
		COPY(4)
		COPY(8)
	default:
		break;
	}
	return SL_OK;
}

enum sl_status sl_py_gather(const struct sl_py_array *a, const uint32_t *index, uint32_t n,
	void *to, bool (*stop_now)(void *ctx))
{
	struct gathering g = {.a = a, .index = index, .n = n, .to = (char *)to, .stop = stop_now};
	struct sl_py_blocks b = {
		.n = (n + (size_t)BLOCK - 1) / BLOCK, .ctx = &g, .make = copy_block, .stop = stop};

	b.threads = sl_py_blocks_threads(b.n);
	return sl_py_blocks_run(&b);
}
