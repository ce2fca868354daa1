/*
 * scan/naive.cu - the scan of Hillis and Steele: log2 n passes over global memory.
 *
 * In the pass of distance d = 1, 2, 4, ... each item adds the one d before it, so that after it
 * item i holds the sum of the 2d items that end with i. (Hillis and Steele, Data parallel
 * algorithms, 1986.) An exclusive scan is the inclusive one of the input shifted by one place; the
 * first pass reads it so.
 *
 * n log2 n additions where n would do, and 8 to 12 bytes an item and pass: 216 to 324 for 2^27
 * items. It is here as the first rung of the ladder, the one that is easiest to read.
 */
#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

/* What every device takes. Kernels promise it, and get no more registers than go with it. */
enum { BLOCK_MOST = 1024 };

/*
 * Reads items i and i - distance of from, both shifted by shift places, writes item i of to; from
 * and to are different. Each thread does ITEMS items, blockDim.x apart: reads all, so that they are
 * on their way together, then writes. Blocks stride where n is beyond the grid.
 */
template <typename T, uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MOST, 1)
	pass_kernel(const T *from, T *to, uint64_t n, uint64_t distance, uint64_t shift)
{
	uint64_t step = (uint64_t)blockDim.x * ITEMS;

	for (uint64_t at = blockIdx.x * step + threadIdx.x; at < n; at += gridDim.x * step) {
		T own[ITEMS], before[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint64_t i = at + (uint64_t)k * blockDim.x;

			own[k] = i < n && i >= shift ? from[i - shift] : 0;
			before[k] = i < n && i >= distance + shift ? from[i - distance - shift] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			if (at + (uint64_t)k * blockDim.x < n)
				to[at + (uint64_t)k * blockDim.x] = own[k] + before[k];
	}
}

struct layout {
	void *other; /* n: what passes write in turn with out */
};

static struct layout lay_out(struct sl_arena *a, uint32_t n, size_t item_bytes)
{
	struct layout l;

	l.other = sl_cut_items(a, n, item_bytes);
	return l;
}

static size_t item_bytes_of(enum sl_type type)
{
	return type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};

	lay_out(&a, most->n, item_bytes_of(most->type));
	return a.used;
}

/* One at least, which for n = 1 copies or shifts. */
static uint32_t passes_for(uint64_t n)
{
	uint32_t passes = 1;

	while (UINT64_C(1) << passes < n)
		passes++;
	return passes;
}

/* The last pass writes out, the one before it other, and so on back to the first. */
template <typename T, uint32_t ITEMS>
static enum sl_status passes(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	T *out = (T *)job->out;
	T *other = (T *)lay_out(&a, job->n, sizeof(T)).other;
	uint32_t count = passes_for(job->n), block = x->tuning.block;
	const T *from = (const T *)job->in;

	if (from == out && count % 2 == 1) { /* the first pass would write what it reads */
		SL_TRY(sl_copy(other, from, job->n * sizeof(T), x->stream));
		from = other;
	}
	for (uint32_t pass = 0; pass < count; pass++) {
		T *to = (count - pass) % 2 == 1 ? out : other;
		uint64_t shift = pass == 0 && !job->inclusive ? 1 : 0;

		SL_TRY(SL_LAUNCH((pass_kernel<T, ITEMS>), sl_grid(job->n, block * ITEMS), block, 0,
			x->stream, from, to, job->n, UINT64_C(1) << pass, shift));
		from = to;
	}
	return SL_OK;
}

template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	switch (x->tuning.items) {
	case 1:
		return passes<T, 1>(x, job);
	case 2:
		return passes<T, 2>(x, job);
	case 4:
		return passes<T, 4>(x, job);
	default:
		return passes<T, 8>(x, job);
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (job->n == 0)
		return SL_OK;
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_scan_naive) = {
	.name = "naive",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Hillis and Steele, log2 n passes over global memory",
	/* a pass is bound by memory: it needs many reads on their way, and any block will do */
	.tunable = {.block = 256,
		.block_step = 1,
		.block_most = BLOCK_MOST,
		.items = 4,
		.items_can = {1, 2, 4, 8}},
	.scratch = scratch,
	.scan = run,
};
