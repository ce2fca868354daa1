/*
 * compact/naive.cu - compaction as a scan: map flags to 0 and 1, sum them, scatter.
 *
 * The exclusive sum of the flags is the place of each survivor, so all of them can be written at
 * the same time. (Blelloch, Prefix sums and their applications, 1990.) cpu_scan.c with a thread
 * where it has a turn of a loop.
 *
 * Map: reads 1 byte an item, writes 4. Scan: that of scan/naive, some 270, unless the job names
 * another. Scatter: reads 5, writes 4 a survivor.
 */
#include "primitives/base/kernel.cuh"
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
	return SL_LAUNCH(scatter_kernel, grid, block, 0, x->stream, job->keep, l.place, job->out,
		job->n_out, job->n);
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
