/*
 * scan/naive.cu - the Hillis-Steele scan: ceil(log2 n) passes over global memory.
 *
 * First of the device backends naive -> work_efficient -> tiled -> shared, and the easiest to read.
 *
 * Pass k (distance d = 2^k) adds item i - d to item i. After the pass, item i holds the sum of the
 * 2d items that end at i, so after ceil(log2 n) passes it holds the sum of all items up to i.
 * (Hillis and Steele, Data parallel algorithms, 1986.) An exclusive scan is the inclusive scan of
 * the input shifted by one item; only the first pass applies the shift.
 *
 * Work: n log2 n additions, where n - 1 are enough. Memory: each pass moves 8 bytes per u32 item,
 * or 12 when its two reads are too far apart to share the cache: 216 to 324 bytes per item for n =
 * 2^27. Scratch: n items, because a pass cannot write the array that other blocks still read;
 * passes alternate between that buffer and out. Launches: one per pass, and one copy if in and out
 * are the same array and the number of passes is odd.
 * Limits: n < 2^32, any block size up to 1024; blocks loop when n exceeds the grid.
 */
#include "order_levels.cuh"
#include "primitives/count.cuh"
#include "primitives/kernel/item_loops.cuh"

/*
 * The largest block of every CUDA device. The launch bounds state it, so that the compiler limits
 * registers to what such a block can have.
 */
enum { BLOCK_MAX = 1024 };

/* Item i - distance; 0 if that is before the first item. */
template <typename T>
static __device__ __forceinline__ T item_before(const T *from, uint64_t i, uint64_t distance)
{
	return i >= distance ? from[i - distance] : 0;
}

/*
 * One pass over count items: adds item i - distance to item i. An exclusive scan also shifts all items
 * by one in its first pass. from and to are different arrays.
 */
template <typename T, uint32_t ITEMS>
static __global__ void __launch_bounds__(BLOCK_MAX, 1)
	pass_kernel(const T *from, T *to, struct sl_count count, uint64_t distance, uint64_t shift)
{
	sl_map_items<ITEMS>(to, sl_count_read(count), [=](uint64_t i) {
		return item_before(from, i, shift) + item_before(from, i, shift + distance);
	});
}

/* Scratch of one call. */
struct scan_naive_scratch {
	void *buffer; /* n items; passes write it and out in turn */
};

static struct scan_naive_scratch lay_out(struct sl_arena *a, uint32_t n, size_t item_bytes)
{
	struct scan_naive_scratch l;

	l.buffer = sl_cut_items(a, n, item_bytes);
	return l;
}

/* Bytes of scratch for any job up to shape: one buffer of n items. */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	if (sl_type_is_float(shape->type))
		return order_scratch(shape);
	lay_out(&a, shape->n, sl_type_bytes(shape->type));
	return a.used;
}

/* ceil(log2 n), but at least one pass: for n = 1 it copies or shifts the item. */
static uint32_t passes_for(uint64_t n)
{
	uint32_t passes = 1;

	while (UINT64_C(1) << passes < n)
		passes++;
	return passes;
}

/*
 * Queues all passes. The last pass writes out, the one before it the buffer, and so on back to the
 * first. If the first pass would then write the array that it reads (in place, odd number of
 * passes), the input is copied to the buffer first.
 */
template <typename T, uint32_t ITEMS>
static enum sl_status run_passes(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	T *out = (T *)job->out;
	T *buffer = (T *)lay_out(&a, job->n, sizeof(T)).buffer;
	uint32_t count = passes_for(job->n), block = x->tuning.block;
	const T *from = (const T *)job->in;

	if (from == out && count % 2 == 1) { /* in place: pass 0 would overwrite its input */
		SL_TRY(sl_copy(buffer, from, job->n * sizeof(T), x->stream));
		from = buffer;
	}
	for (uint32_t pass = 0; pass < count; pass++) {
		T *to = (count - pass) % 2 == 1 ? out : buffer;
		uint64_t shift = pass == 0 && !job->inclusive ? 1 : 0;

		SL_TRY(SL_LAUNCH((pass_kernel<T, ITEMS>), sl_grid(job->n, block * ITEMS), block, 0,
			x->stream, from, to, sl_count_of(job), UINT64_C(1) << pass, shift));
		from = to;
	}
	return SL_OK;
}

/* Selects the kernel instance for the tuned number of items per thread. */
template <typename T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	return sl_with_items<1, 2, 4, 8>(
		x->tuning.items, [=](auto items) { return run_passes<T, items>(x, job); });
}

static enum sl_status run(struct sl_exec *x, const struct sl_scan_job *job)
{
	if (sl_type_is_float(job->type))
		return order_levels_of(x, job);
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_scan_naive) = {
	.name = "naive",
	.primitive = SL_SCAN,
	.space = SL_DEVICE,
	.help = "Hillis-Steele: log2 n passes over global memory",
	/*
	 * bound by memory traffic: several loads per thread hide latency, the block size hardly
	 * matters
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
