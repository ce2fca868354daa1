/*
 * compact/naive.cu - stream compaction by scan on the device: map flags to 0 and 1, scan, scatter.
 *
 * First of the device backends naive -> work_efficient -> tiled -> shared. The exclusive sum of the
 * flags is the output position of each survivor, so all survivors can be written in parallel.
 * (Blelloch, Prefix sums and their applications, 1990.) cpu_scan.c with one thread per loop
 * iteration.
 *
 * Memory per item: map reads 1 byte and writes 4; the scan moves about 270 with scan/naive at n =
 * 2^27, or less with another scan named by the job; the scatter reads 5 and writes 4 per survivor.
 * Each column is scattered like the indices and reads flags and positions again.
 *
 * Launches: 3, those of the scan, and 1 per column. Scratch: n positions, and the scratch of the
 * scan. Limits: n < 2^32, any block size up to 1024.
 */
#include "items.h"
#include "primitives/count.cuh"
#include "primitives/kernel/item_loops.cuh"
#include "primitives/scan/scan.h"

/* flag[i] = 1 for a survivor, otherwise 0, as after the last flag: the scan may read all of them. */
static __global__ void map_kernel(const uint8_t *keep, uint32_t *flag, struct sl_count count)
{
	uint64_t n = sl_count_read(count);

	sl_for_items(count.most, [=](uint64_t i) { flag[i] = i < n && keep[i] != 0; });
}

/* Writes the index of each survivor to its position. */
static __global__ void scatter_kernel(
	const uint8_t *keep, const uint32_t *position, uint32_t *out, struct sl_count count)
{
	sl_for_items(sl_count_read(count), [=](uint64_t i) {
		if (keep[i])
			out[position[i]] = (uint32_t)i;
	});
}

/* Writes a column's item of each survivor to its position. */
template <class T>
static __global__ void scatter_column_kernel(
	const uint8_t *keep, const uint32_t *position, const T *from, T *to, struct sl_count count)
{
	sl_for_items(sl_count_read(count), [=](uint64_t i) {
		if (keep[i])
			to[position[i]] = from[i];
	});
}

/* The number of survivors; one thread. */
static __global__ void count_kernel(
	const uint8_t *keep, const uint32_t *position, uint32_t *n_out, struct sl_count count)
{
	uint64_t n = sl_count_read(count);

	*n_out = n > 0 ? position[n - 1] + (keep[n - 1] != 0) : 0;
}

/* Scratch of one call. */
struct compact_naive_scratch {
	uint32_t *position; /* n: first the flag, after the scan the number of survivors before */
};

static struct compact_naive_scratch lay_out(struct sl_arena *a, uint32_t n)
{
	struct compact_naive_scratch l;

	l.position = (uint32_t *)sl_cut_items(a, n, sizeof(*l.position));
	return l;
}

/* Bytes of scratch for any job up to shape, including those of its scan. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	lay_out(&a, shape->n);
	sl_inner_scan_cut(&a, &shape->scan, &SL_NAME(sl_scan_naive), shape->n);
	return a.used;
}

/* Queues the scatter of one column. */
static enum sl_status scatter_column(const struct sl_exec *x, const struct sl_compact_job *job,
	const uint32_t *position, const struct sl_compact_column *c)
{
	uint32_t block = x->tuning.block, grid = sl_grid(job->n, block * x->tuning.items);

	switch (c->bytes) {
#define X(item_bytes, type)                                                              \
	case item_bytes:                                                                 \
		return SL_LAUNCH(scatter_column_kernel<type>, grid, block, 0, x->stream, \
			job->keep, position, (const type *)c->from, (type *)c->to,       \
			sl_count_of(job));
		SL_COMPACT_ITEMS(X)
#undef X
	}
	return SL_OK;
}

/*
 * Queues map, scan, count and scatters on the stream. The scan works in place on the positions,
 * with the rest of the arena as its scratch.
 */
static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	struct compact_naive_scratch l = lay_out(&inner.scratch, job->n);
	const struct sl_scan_job sum = {.in = l.position,
		.out = l.position,
		.n = job->n,
		.type = SL_U32,
		.n_on_device = job->n_on_device,
		.n_type = job->n_type};
	const struct sl_count count = sl_count_of(job);
	uint32_t block = x->tuning.block, grid = sl_grid(job->n, block * x->tuning.items);

	SL_TRY(SL_LAUNCH(map_kernel, grid, block, 0, x->stream, job->keep, l.position, count));
	SL_TRY(sl_inner_scan(&inner, &job->scan, &SL_NAME(sl_scan_naive), &sum));
	SL_TRY(SL_LAUNCH(
		count_kernel, 1, 1, 0, x->stream, job->keep, l.position, job->n_out, count));
	if (job->out)
		SL_TRY(SL_LAUNCH(scatter_kernel, grid, block, 0, x->stream, job->keep, l.position,
			job->out, count));
	for (uint32_t k = 0; k < job->n_columns; k++)
		SL_TRY(scatter_column(x, job, l.position, &job->column[k]));
	return SL_OK;
}

const struct sl_backend SL_NAME(sl_compact_naive) = {
	.name = "naive",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "map, scan, scatter; scan/naive unless the job names another scan",
	.uses_scan = true,
	/* one item per thread: many threads, so many loads in flight */
	.tunable = {.block = 256,
		.block_step = 1,
		.block_most = 1024,
		.items = 1,
		.items_can = {1, 2, 4, 8}},
	.takes_n_on_device = true,
	.scratch = scratch,
	.compact = run,
};
