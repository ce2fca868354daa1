/*
 * scan/work_efficient.cu - the scan of Blelloch: up a tree of sums and down again, in global
 * memory.
 *
 * Up-sweep: each node is the sum of its two children, level by level, until two nodes are left.
 * Down-sweep: each node, top to bottom, is given the sum of all items before it. The first child of
 * a node begins where the node does, the second one the first child's sum later. At the bottom
 * that is the exclusive scan. (Blelloch, Prefix sums and their applications, 1990.)
 *
 * In the textbook the tree lives in the array itself: level k in every 2^k-th item. Then from the
 * fourth level on, each 4 bytes of it cost a sector of 32. Here each level is an array of its own,
 * so a level moves what it has and no more: 12 bytes an item of u32 up and 20 down, 32 in all, for
 * n / 2 + n / 4 + ... = n items of scratch. A level is launched with the threads that it has nodes
 * for, and may have an odd one at its end, so any n will do.
 *
 * Over naive: 2n additions instead of n log2 n, and 32 bytes an item whatever n is, where naive
 * moves 8 to 12 in each of log2 n passes.
 */
#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

/* 2^32 items have 31 levels above them, of which the last has two nodes; and a NULL above that. */
enum { LEVELS_MOST = 33 };

/* What every device takes. Kernels promise it, and get no more registers than go with it. */
enum { BLOCK_MOST = 1024 };

/*
 * Sums of two: to[i] = from[2i] + from[2i + 1], for n items of from. Each thread does ITEMS nodes,
 * blockDim.x apart: reads all, so that they are on their way together, then writes.
 */
template <typename T, uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MOST, 1) up_kernel(const T *from, T *to, uint64_t n)
{
	uint64_t nodes = (n + 1) / 2, step = (uint64_t)blockDim.x * ITEMS;

	for (uint64_t at = blockIdx.x * step + threadIdx.x; at < nodes; at += gridDim.x * step) {
		T first[ITEMS], second[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint64_t i = 2 * (at + (uint64_t)k * blockDim.x);

			first[k] = i < n ? from[i] : 0;
			second[k] = i + 1 < n ? from[i + 1] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			if (at + (uint64_t)k * blockDim.x < nodes)
				to[at + (uint64_t)k * blockDim.x] = first[k] + second[k];
	}
}

/*
 * Items of from become, in to, the sums of all items before them, or with them if inclusive; above
 * has those sums for nodes of two, and is NULL at the top. to may be from. Threads as in up_kernel.
 */
template <typename T, uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MOST, 1)
	down_kernel(const T *above, const T *from, T *to, uint64_t n, bool inclusive)
{
	uint64_t nodes = (n + 1) / 2, step = (uint64_t)blockDim.x * ITEMS;

	for (uint64_t at = blockIdx.x * step + threadIdx.x; at < nodes; at += gridDim.x * step) {
		T before[ITEMS], first[ITEMS], second[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint64_t node = at + (uint64_t)k * blockDim.x, i = 2 * node;

			before[k] = above && i < n ? above[node] : 0;
			first[k] = i < n ? from[i] : 0;
			second[k] = inclusive && i + 1 < n ? from[i + 1] : 0;
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++) {
			uint64_t i = 2 * (at + (uint64_t)k * blockDim.x);

			if (i < n)
				to[i] = before[k] + (inclusive ? first[k] : 0);
			if (i + 1 < n)
				to[i + 1] = before[k] + first[k] + second[k];
		}
	}
}

/* The tree. Level 0 is the input, so it is not cut; the top has two nodes at most. */
struct layout {
	void *level[LEVELS_MOST];
	uint32_t n[LEVELS_MOST];
	uint32_t top;
};

static struct layout lay_out(struct sl_arena *a, uint32_t n, size_t item_bytes)
{
	struct layout l = {};

	l.n[0] = n;
	for (; l.n[l.top] > 2; l.top++) {
		l.n[l.top + 1] = l.n[l.top] / 2 + l.n[l.top] % 2;
		l.level[l.top + 1] = sl_cut_items(a, l.n[l.top + 1], item_bytes);
	}
	return l;
}

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};

	lay_out(&a, most->n, most->type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t));
	return a.used;
}

/* Blocks that do the nodes of a level of n. */
static uint32_t grid_for(uint32_t n, struct sl_tuning tuning)
{
	return sl_grid(n / 2 + n % 2, tuning.block * tuning.items);
}

template <typename T, uint32_t ITEMS>
static enum sl_status sweep(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct layout l = lay_out(&a, job->n, sizeof(T));
	const T *in = (const T *)job->in;
	uint32_t block = x->tuning.block;

	for (uint32_t k = 0; k < l.top; k++) {
		const T *from = k == 0 ? in : (const T *)l.level[k];

		SL_TRY(SL_LAUNCH((up_kernel<T, ITEMS>), grid_for(l.n[k], x->tuning), block, 0,
			x->stream, from, (T *)l.level[k + 1], l.n[k]));
	}
	for (uint32_t k = l.top; k > 0; k--) {
		T *level = (T *)l.level[k];

		SL_TRY(SL_LAUNCH((down_kernel<T, ITEMS>), grid_for(l.n[k], x->tuning), block, 0,
			x->stream, (const T *)l.level[k + 1], (const T *)level, level, l.n[k],
			false));
	}
	return SL_LAUNCH((down_kernel<T, ITEMS>), grid_for(job->n, x->tuning), block, 0, x->stream,
		(const T *)l.level[1], in, (T *)job->out, job->n, job->inclusive);
}

template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	switch (x->tuning.items) {
	case 1:
		return sweep<T, 1>(x, job);
	case 2:
		return sweep<T, 2>(x, job);
	case 4:
		return sweep<T, 4>(x, job);
	default:
		return sweep<T, 8>(x, job);
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (job->n == 0)
		return SL_OK;
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_scan_work_efficient) = {
	.name = "work_efficient",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Blelloch, up and down a tree of sums, each level an array in global memory",
	/* items: nodes a thread; 4 of them have 32 bytes of u32 on their way in each thread */
	.tunable = {.block = 256,
		.block_step = 1,
		.block_most = BLOCK_MOST,
		.items = 4,
		.items_can = {1, 2, 4, 8}},
	.scratch = scratch,
	.scan = run,
};
