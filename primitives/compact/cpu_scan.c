/*
 * compact/cpu_scan.c - compaction as a scan: map flags to 0 and 1, sum them, scatter.
 *
 * The exclusive sum of the flags is the place of each survivor. This is how all parallel
 * compactions work; here each step can be read, and any scan of the host can be put in. Columns
 * are scattered to the same places, one by one.
 * (Blelloch, Prefix sums and their applications, 1990.) Moves 17 bytes more an item than one loop.
 */
#include <string.h>

#include "primitives/primitives.h"

struct layout {
	uint32_t *position; /* n: flag, then how many survivors stand before */
};

static struct layout lay_out(struct sl_arena *a, uint32_t n)
{
	struct layout l;

	l.position = (uint32_t *)sl_cut_items(a, n, sizeof(*l.position));
	return l;
}

static const struct sl_backend *chosen_scan(const struct sl_choice *chosen)
{
	return chosen->backend ? chosen->backend : &sl_scan_cpu;
}

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};
	struct sl_shape inner = {.n = shape->n, .type = SL_U32, .tuning = shape->scan.tuning};

	lay_out(&a, shape->n);
	sl_cut(&a, sl_scratch(chosen_scan(&shape->scan), &inner));
	return a.used;
}

static void map_flags(const uint8_t *keep, uint32_t *flag, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		flag[i] = keep[i] != 0;
}

static void scatter(const uint8_t *keep, const uint32_t *position, uint32_t *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (keep[i])
			out[position[i]] = i;
}

static void scatter_items(const uint8_t *keep, const uint32_t *position,
	const struct sl_compact_column *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (keep[i])
			memcpy((char *)c->to + (size_t)position[i] * c->bytes,
				(const char *)c->from + (size_t)i * c->bytes, c->bytes);
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	struct layout l = lay_out(&inner.scratch, job->n);
	struct sl_scan_job sum = {.in = l.position, .out = l.position, .n = job->n, .type = SL_U32};
	uint32_t last = job->n - 1;

	*job->n_out = 0;
	if (job->n == 0)
		return SL_OK;
	map_flags(job->keep, l.position, job->n);
	inner.tuning = job->scan.tuning;
	SL_TRY(sl_scan(chosen_scan(&job->scan), &inner, &sum));
	if (job->out)
		scatter(job->keep, l.position, job->out, job->n);
	for (uint32_t k = 0; k < job->n_columns; k++)
		scatter_items(job->keep, l.position, &job->column[k], job->n);
	*job->n_out = l.position[last] + (job->keep[last] != 0);
	return SL_OK;
}

const struct sl_backend sl_compact_cpu_scan = {
	.name = "cpu_scan",
	.primitive = SL_COMPACT,
	.space = SL_HOST,
	.help = "map, scan, scatter in three loops, on any scan of the host",
	.uses_scan = true,
	.scratch = scratch,
	.compact = run,
};
