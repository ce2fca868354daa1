/*
 * compact/cpu_scan.c - stream compaction by scan on the host: map flags to 0 and 1, scan, scatter.
 *
 * The exclusive sum of the flags is the output position of each survivor. (Blelloch, Prefix sums
 * and their applications, 1990.) This is the scheme of the device backends in a form that is easy
 * to read, on any scan backend of the host; columns are scattered to the same positions, one by
 * one.
 *
 * Against cpu: moves 17 bytes per item more (write the flags as u32, scan them, read the
 * positions). Scratch: n positions, and the scratch of the scan.
 */
#include <string.h>

#include "primitives/primitives.h"
#include "primitives/scan/scan.h"

/* Scratch of one call. */
struct compact_cpu_scan_scratch {
	uint32_t *position; /* n: first the flag, after the scan the number of survivors before */
};

static struct compact_cpu_scan_scratch lay_out(struct sl_arena *a, uint32_t n)
{
	struct compact_cpu_scan_scratch l;

	l.position = (uint32_t *)sl_cut_items(a, n, sizeof(*l.position));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	lay_out(&a, shape->n);
	sl_inner_scan_cut(&a, &shape->scan, &sl_scan_cpu, shape->n);
	return a.used;
}

/* flag[i] = 1 for a survivor, otherwise 0. */
static void map_flags(const uint8_t *keep, uint32_t *flag, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		flag[i] = keep[i] != 0;
}

/* Writes the index of each survivor to its position. */
static void scatter(const uint8_t *keep, const uint32_t *position, uint32_t *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (keep[i])
			out[position[i]] = i;
}

/* Writes a column's item of each survivor to its position. */
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
	struct compact_cpu_scan_scratch l = lay_out(&inner.scratch, job->n);
	struct sl_scan_job sum = {.in = l.position, .out = l.position, .n = job->n, .type = SL_U32};
	uint32_t last = job->n - 1;

	map_flags(job->keep, l.position, job->n);
	SL_TRY(sl_inner_scan(&inner, &job->scan, &sl_scan_cpu, &sum));
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
	.help = "map, scan, scatter on one thread; scan/cpu unless the job names another scan",
	.uses_scan = true,
	.scratch = scratch,
	.compact = run,
};
