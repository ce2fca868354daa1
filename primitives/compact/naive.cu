/*
 * compact/naive.cu - compaction as a scan: map flags to 0 and 1, sum them, scatter.
 *
 * The exclusive sum of the flags is the place of each survivor, so all of them can be written at
 * the same time. (Blelloch, Prefix sums and their applications, 1990.) cpu_scan.c with a thread
 * where it has a turn of a loop.
 *
 * Map: reads 1 byte an item, writes 4. Scan: that of scan/naive, some 270, unless the job names
 * another. Scatter: reads 5, writes 4 a survivor. A column is scattered like the indices, and flags
 * and places are read again for each.
 */
#include "items.h"
#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

/* The number of this thread in the grid, and how many there are: the stride of its items. */
static __device__ __forceinline__ uint64_t thread_number(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ uint64_t thread_count(void)
{
	return (uint64_t)gridDim.x * blockDim.x;
}

static __global__ void map_kernel(const uint8_t *keep, uint32_t *flag, uint64_t n)
{
	for (uint64_t i = thread_number(); i < n; i += thread_count())
		flag[i] = keep[i] != 0;
}

/* Whoever has the last item knows the count. */
static __global__ void scatter_kernel(
	const uint8_t *keep, const uint32_t *place, uint32_t *out, uint32_t *n_out, uint64_t n)
{
	for (uint64_t i = thread_number(); i < n; i += thread_count()) {
		uint32_t to = place[i];

		if (keep[i])
			out[to] = (uint32_t)i;
		if (i == n - 1)
			*n_out = to + (keep[i] != 0);
	}
}

/* Where no indices are wanted: one thread. */
static __global__ void count_kernel(
	const uint8_t *keep, const uint32_t *place, uint32_t *n_out, uint64_t n)
{
	*n_out = place[n - 1] + (keep[n - 1] != 0);
}

template <class T>
static __global__ void move_kernel(
	const uint8_t *keep, const uint32_t *place, const T *from, T *to, uint64_t n)
{
	for (uint64_t i = thread_number(); i < n; i += thread_count())
		if (keep[i])
			to[place[i]] = from[i];
}

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
	return chosen->backend ? chosen->backend : &SL_NAME(sl_scan_naive);
}

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};
	struct sl_shape inner = {.n = most->n, .type = SL_U32, .tuning = most->scan.tuning};

	lay_out(&a, most->n);
	sl_cut(&a, sl_scratch(scan_of(&most->scan), &inner));
	return a.used;
}

/* Queues the scatter of a column. */
static enum sl_status move_column(const struct sl_exec *x, const struct sl_compact_job *job,
	const uint32_t *place, const struct sl_compact_column *c)
{
	uint32_t block = x->tuning.block, grid = sl_grid(job->n, block * x->tuning.items);

	switch (c->bytes) {
#define X(item_bytes, type)                                                                      \
	case item_bytes:                                                                         \
		return SL_LAUNCH(move_kernel<type>, grid, block, 0, x->stream, job->keep, place, \
			(const type *)c->from, (type *)c->to, job->n);
		SL_COMPACT_ITEMS(X)
#undef X
	}
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_exec inner = *x;
	struct layout l = lay_out(&inner.scratch, job->n);
	struct sl_scan_job sum = {.in = l.place, .out = l.place, .n = job->n, .type = SL_U32};
	uint32_t block = x->tuning.block, grid = sl_grid(job->n, block * x->tuning.items);

	if (job->n == 0)
		return sl_fill(job->n_out, 0, sizeof(*job->n_out), x->stream);
	SL_TRY(SL_LAUNCH(map_kernel, grid, block, 0, x->stream, job->keep, l.place, job->n));
	inner.tuning = job->scan.tuning;
	SL_TRY(sl_scan(scan_of(&job->scan), &inner, &sum));
	if (job->out)
		SL_TRY(SL_LAUNCH(scatter_kernel, grid, block, 0, x->stream, job->keep, l.place,
			job->out, job->n_out, job->n));
	else
		SL_TRY(SL_LAUNCH(
			count_kernel, 1, 1, 0, x->stream, job->keep, l.place, job->n_out, job->n));
	for (uint32_t k = 0; k < job->n_columns; k++)
		SL_TRY(move_column(x, job, l.place, &job->column[k]));
	return SL_OK;
}

const struct sl_backend SL_NAME(sl_compact_naive) = {
	.name = "naive",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "map, scan, scatter; the scan is the naive one, or any of the device",
	.uses_scan = true,
	/* one item a thread keeps most threads, and so loads, in flight */
	.tunable = {.block = 256,
		.block_step = 1,
		.block_most = 1024,
		.items = 1,
		.items_can = {1, 2, 4, 8}},
	.scratch = scratch,
	.compact = run,
};
