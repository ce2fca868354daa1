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
	uint32_t *place; /* n: flag, then how many survivors stand before */
};

static struct layout lay_out(struct sl_arena *a, uint32_t n)
{
	struct layout l;

	l.place = (uint32_t *)sl_cut_items(a, n, sizeof(*l.place));
	return l;
}

static const struct sl_backend *scan_of(const struct sl_choice *chosen)
{
	return chosen->backend ? chosen->backend : &sl_scan_cpu;
}

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {0};
	struct sl_shape inner = {.n = most->n, .type = SL_U32, .tuning = most->scan.tuning};

	lay_out(&a, most->n);
	sl_cut(&a, sl_scratch(scan_of(&most->scan), &inner));
	return a.used;
}

static void map(const uint8_t *keep, uint32_t *flag, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		flag[i] = keep[i] != 0;
}

static void scatter(const uint8_t *keep, const uint32_t *place, uint32_t *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (keep[i])
			out[place[i]] = i;
}

static void scatter_items(
	const uint8_t *keep, const uint32_t *place, const struct sl_compact_column *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (keep[i])
			memcpy((char *)c->to + (size_t)place[i] * c->bytes,
				(const char *)c->from + (size_t)i * c->bytes, c->bytes);
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	struct layout l = lay_out(&inner.scratch, job->n);
	struct sl_scan_job sum = {.in = l.place, .out = l.place, .n = job->n, .type = SL_U32};
	uint32_t last = job->n - 1;

	*job->n_out = 0;
	if (job->n == 0)
		return SL_OK;
	map(job->keep, l.place, job->n);
	inner.tuning = job->scan.tuning;
	SL_TRY(sl_scan(scan_of(&job->scan), &inner, &sum));
	if (job->out)
		scatter(job->keep, l.place, job->out, job->n);
	for (uint32_t k = 0; k < job->n_columns; k++)
		scatter_items(job->keep, l.place, &job->column[k], job->n);
	*job->n_out = l.place[last] + (job->keep[last] != 0);
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
