/* resample.cu - the work of a filter (resample.h) on a device, in the order of the particles. */
#include "primitives/kernel/item_loops.cuh"
#include "stages/counting/sums.cuh"
#include "stages/rounds/resample.h"

/* Of many particles a thread takes several: sums, and what is the same for all, cost less. */
enum { BLOCK = 256, BLOCKS_PER_MULTIPROCESSOR = 8, PER_TURN = 4 };

/* Raises *to to the largest of the values of all threads of a warp, which mostly is below it. */
static __device__ __forceinline__ void warp_max(uint32_t value, uint64_t *to)
{
	for (uint32_t by = 16; by > 0; by /= 2) {
		uint32_t other = __shfl_down_sync(SL_LANES, value, by);

		value = other > value ? other : value;
	}
	if (threadIdx.x % 32 == 0 && value > sl_load_relaxed(to))
		atomicMax((unsigned long long *)to, (unsigned long long)value);
}

/* The largest value(i) of the items of a thread, which loads several of them at a time. */
template <class Value> static __device__ inline uint32_t largest(uint32_t n, const Value &value)
{
	uint32_t most = 0;

	sl_for_items((n + PER_TURN - 1) / PER_TURN, [&](uint64_t i) {
		SL_UNROLL
		for (uint64_t k = 0; k < PER_TURN; k++) {
			uint64_t at = i + k * ((n + PER_TURN - 1) / PER_TURN);
			uint32_t v = value(at < n ? at : i);

			most = v > most ? v : most;
		}
	});
	return most;
}

static __global__ void largest_kernel(struct sl_filter_pass p)
{
	warp_max(largest(p.n, [&](uint64_t i) { return sl_filter_order(p.columns.log_weight[i]); }),
		&p.word[SL_FILTER_PEAK]);
	for (uint32_t k = 0; k < p.n_moments; k++) {
		const float *moment = p.moment[k];

		warp_max(largest(p.n, [=](uint64_t i) { return sl_filter_magnitude(moment[i]); }),
			&p.word[SL_FILTER_MOMENTS + 2 * p.n_moments + k]);
	}
}

template <uint32_t MOMENTS> static __global__ void weigh_kernel(struct sl_filter_pass p)
{
	const float peak = sl_filter_of_order((uint32_t)p.word[SL_FILTER_PEAK]);
	double scale[2 * SL_FILTER_MOMENTS_MAX];
	uint64_t sum[4 + 2 * MOMENTS] = {};

	sl_filter_scales(&p, scale);
	sl_map_items<PER_TURN>(p.weight, p.n, [&](uint64_t i) {
		double weight = sl_filter_weight(&p, (uint32_t)i, peak);

		return sl_filter_weigh(&p, MOMENTS, (uint32_t)i, weight, scale, sum);
	});
	sl_block_add<sl_words_of<UINT64_MAX>>(sum, p.word + SL_FILTER_SQUARES);
}

static __global__ void items_kernel(enum sl_filter_work which, struct sl_filter_pass p)
{
	const struct sl_filter_sums sums = sl_filter_find_sums(&p);

	sl_for_items(p.n, [&](uint64_t i) { sl_filter_item(which, &p, &sums, (uint32_t)i); });
}

enum sl_status SL_NAME(sl_queue_filter)(
	enum sl_filter_work which, const struct sl_filter_pass *p, sl_stream s)
{
	struct sl_limits limits;
	uint32_t blocks = sl_grid(p->n, BLOCK);

	SL_TRY(sl_device_limits(&limits));
	if (blocks > BLOCKS_PER_MULTIPROCESSOR * limits.multiprocessors)
		blocks = BLOCKS_PER_MULTIPROCESSOR * limits.multiprocessors;
	if (which == SL_FILTER_LARGEST)
		return SL_LAUNCH(largest_kernel, blocks, BLOCK, 0, s, *p);
	if (which != SL_FILTER_WEIGH)
		return SL_LAUNCH(items_kernel, blocks, BLOCK, 0, s, which, *p);
	if (p->n_moments == 1)
		return SL_LAUNCH(weigh_kernel<1>, blocks, BLOCK, 0, s, *p);
	return SL_LAUNCH(weigh_kernel<SL_FILTER_MOMENTS_MAX>, blocks, BLOCK, 0, s, *p);
}
