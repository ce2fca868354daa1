/*
 * scan/work_efficient.cu - Blelloch's scan: an up-sweep and a down-sweep over a tree of sums in
 * global memory.
 *
 * Second of the device backends naive -> work_efficient -> tiled -> shared.
 *
 * Up-sweep: each node is the sum of its two children, level by level, until a level has at most two
 * nodes. Down-sweep: from the top, each node receives the sum of all items before its subtree. The
 * left child inherits the value; the right child adds the left child's sum. At the leaves this is
 * the exclusive scan. (Blelloch, Prefix sums and their applications, 1990.)
 *
 * The textbook stores the tree in the array itself, level k in every 2^k-th item. From the fourth
 * level on, each 4-byte node then costs a whole 32-byte sector. Here each level is a dense array of
 * its own, so a level moves only its own bytes. A level may have an odd node at its end, so n need
 * not be a power of two.
 *
 * Against naive: about 2n additions instead of n log2 n, and 32 bytes per u32 item (12 up, 20 down)
 * independent of n, where naive moves 8 to 12 bytes in each of log2 n passes.
 *
 * Launches: 2 log2 n. Scratch: n / 2 + n / 4 + ... = n items. Limits: n < 2^32, any block size up
 * to 1024.
 */
#include "order_levels.cuh"
#include "primitives/count.cuh"

/* n < 2^32 has at most 31 levels above the input; one more entry stays NULL above the top level. */
enum { LEVELS_MAX = 33 };

/*
 * The largest block of every CUDA device. The launch bounds state it, so that the compiler limits
 * registers to what such a block can have.
 */
enum { BLOCK_MAX = 1024 };

/* The items of a level: each level has half as many as the one below, rounded up. */
static __device__ __forceinline__ uint32_t level_items(const struct sl_count &count, uint32_t level)
{
	return (uint32_t)((sl_count_read(count) + (UINT64_C(1) << level) - 1) >> level);
}

/*
 * Up-sweep of one level: to[i] = from[2i] + from[2i + 1] for all items of from; a missing item counts
 * 0. Each thread computes ITEMS nodes, blockDim.x apart, and issues all its loads before the first
 * store so that they are in flight together.
 */
template <typename T, uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX, 1)
	up_sweep_kernel(const T *from, T *to, struct sl_count count, uint32_t level)
{
	uint32_t n = level_items(count, level), nodes = n / 2 + n % 2;
	uint64_t step = (uint64_t)blockDim.x * ITEMS;

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
 * Down-sweep of one level: replaces the node sums in from by the sums of all items before each
 * node, or up to and including it if inclusive. above holds these sums for the parent level and is
 * NULL at the top. to may be from: a thread reads both children of a node before it writes them.
 * Threads as in up_sweep_kernel().
 */
template <typename T, uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX, 1) down_sweep_kernel(
	const T *above, const T *from, T *to, struct sl_count count, uint32_t level, bool inclusive)
{
	uint32_t n = level_items(count, level), nodes = n / 2 + n % 2;
	uint64_t step = (uint64_t)blockDim.x * ITEMS;

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

/* The tree. Level 0 is the input, which needs no scratch; the top level has at most two nodes. */
struct scan_work_efficient_scratch {
	void *level[LEVELS_MAX];
	uint32_t n[LEVELS_MAX];
	uint32_t top;
};

/* Cuts all levels above the input; measures them if the arena has no base. */
static struct scan_work_efficient_scratch lay_out(struct sl_arena *a, uint32_t n, size_t item_bytes)
{
	struct scan_work_efficient_scratch l = {};

	l.n[0] = n;
	for (; l.n[l.top] > 2; l.top++) {
		l.n[l.top + 1] = l.n[l.top] / 2 + l.n[l.top] % 2;
		l.level[l.top + 1] = sl_cut_items(a, l.n[l.top + 1], item_bytes);
	}
	return l;
}

/* Bytes of scratch for any job up to shape: all levels together, about n items. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	if (sl_type_is_float(shape->type))
		return order_scratch(shape);
	lay_out(&a, shape->n, sl_type_bytes(shape->type));
	return a.used;
}

/* Grid for one level of n nodes: one thread per items pairs of nodes. */
static uint32_t grid_for(uint32_t n, struct sl_tuning tuning)
{
	return sl_grid(n / 2 + n % 2, tuning.block * tuning.items);
}

/*
 * Queues the up-sweep of all levels, then the down-sweep back to the leaves. The last launch reads
 * the input again instead of a copy and writes out, so in and out may be the same array.
 */
template <typename T, uint32_t ITEMS>
static enum sl_status run_sweeps(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct scan_work_efficient_scratch l = lay_out(&a, job->n, sizeof(T));
	const struct sl_count count = sl_count_of(job);
	const T *in = (const T *)job->in;
	uint32_t block = x->tuning.block;

	for (uint32_t k = 0; k < l.top; k++) {
		const T *from = k == 0 ? in : (const T *)l.level[k];

		SL_TRY(SL_LAUNCH((up_sweep_kernel<T, ITEMS>), grid_for(l.n[k], x->tuning), block, 0,
			x->stream, from, (T *)l.level[k + 1], count, k));
	}
	for (uint32_t k = l.top; k > 0; k--) {
		T *level = (T *)l.level[k];

		SL_TRY(SL_LAUNCH((down_sweep_kernel<T, ITEMS>), grid_for(l.n[k], x->tuning), block,
			0, x->stream, (const T *)l.level[k + 1], (const T *)level, level, count, k,
			false));
	}
	return SL_LAUNCH((down_sweep_kernel<T, ITEMS>), grid_for(job->n, x->tuning), block, 0,
		x->stream, (const T *)l.level[1], in, (T *)job->out, count, 0u, job->inclusive);
}

/* Selects the kernel instance for the tuned number of items per thread. */
template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	return sl_with_items<1, 2, 4, 8>(
		x->tuning.items, [=](auto items) { return run_sweeps<T, items>(x, job); });
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (sl_type_is_float(job->type))
		return order_levels_of(x, job);
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_scan_work_efficient) = {
	.name = "work_efficient",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Blelloch: up-sweep and down-sweep over a tree of sums in global memory",
	/*
	 * items: parent nodes per thread; 4 of them are 32 bytes of u32 loads in flight per thread
	 */
	.tunable = {.block = 256,
		.block_step = 1,
		.block_most = BLOCK_MAX,
		.items = 4,
		.items_can = {1, 2, 4, 8}},
	.takes_n_on_device = true,
	.scratch = scratch,
	.scan = run,
	.sum = order_sum_of,
};
