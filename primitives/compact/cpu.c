/*
 * compact/cpu.c - stream compaction on one host thread: the specification of every compact backend.
 *
 * One loop lists the indices of the survivors; one more loop per column copies their items. Each
 * index is written at the end of the list, whether it survives or not, and the length grows by the
 * flag. So no branch depends on the data (a misprediction costs about 15 cycles), and since the
 * list is never longer than i, the write stays within the n items of out. No scratch.
 */
#include <string.h>

#include "items.h"
#include "primitives/primitives.h"

/* No scratch. */
static size_t scratch(const struct sl_shape *shape)
{
	(void)shape;
	return 0;
}

/* Writes the indices of the survivors to out, ascending; returns their number. */
static uint32_t list(const uint8_t *keep, uint32_t n, uint32_t *out)
{
	uint32_t n_out = 0;

	for (uint32_t i = 0; i < n; i++) {
		out[n_out] = i;
		n_out += keep[i] != 0;
	}
	return n_out;
}

/* Number of survivors, for jobs that want no indices. */
static uint32_t count(const uint8_t *keep, uint32_t n)
{
	uint32_t n_out = 0;

	for (uint32_t i = 0; i < n; i++)
		n_out += keep[i] != 0;
	return n_out;
}

/*
 * Same loop for the items of a column. bytes is a constant at each call, so that memcpy() becomes
 * one load and one store.
 */
static inline void compact_items(
	const uint8_t *keep, uint32_t n, const struct sl_compact_column *c, size_t bytes)
{
	const char *from = (const char *)c->from;
	char *to = (char *)c->to;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(to, from + i * bytes, bytes);
		to += keep[i] != 0 ? bytes : 0;
	}
}

/* Selects the loop for the item size of the column. */
static void compact_column(const uint8_t *keep, uint32_t n, const struct sl_compact_column *c)
{
	switch (c->bytes) {
#define X(item_bytes, type)                            \
	case item_bytes:                               \
		compact_items(keep, n, c, item_bytes); \
		break;
		SL_COMPACT_ITEMS(X)
#undef X
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	(void)x;
	*job->n_out = job->out ? list(job->keep, job->n, job->out) : count(job->keep, job->n);
	for (uint32_t k = 0; k < job->n_columns; k++)
		compact_column(job->keep, job->n, &job->column[k]);
	return SL_OK;
}

const struct sl_backend sl_compact_cpu = {
	.name = "cpu",
	.primitive = SL_COMPACT,
	.space = SL_HOST,
	.help = "one loop without branches on one thread; the specification",
	.scratch = scratch,
	.compact = run,
};
