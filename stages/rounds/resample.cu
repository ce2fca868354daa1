/*
 * resample.cu - the work of a filter (resample.h) on a device, in the order of the particles. If
 * all of its blocks run at once, a kernel is launched early, because it takes little longer than its
 * start; early blocks of larger ones would take the place of blocks that work (2 to 3 % of a step).
 */
#include "primitives/kernel/item_loops.cuh"
#include "stages/counting/sums.cuh"
#include "stages/rounds/resample.h"

/* Of many particles a thread takes several: sums, and what is the same for all, cost less. */
enum { BLOCK = 256, BLOCKS_PER_MULTIPROCESSOR = 8, PER_TURN = 4 };

template <uint32_t MOMENTS> static __global__ void weigh_kernel(struct sl_filter_pass p)
{
	double scale[2 * SL_FILTER_MOMENTS_MAX];
	uint64_t sum[4 + 2 * MOMENTS] = {};
	float peak;

	sl_trigger_next();
	sl_wait_for_previous();
	peak = sl_filter_of_order((uint32_t)p.word[SL_FILTER_PEAK]);
	sl_filter_scales(&p, scale);
	sl_map_items<PER_TURN>(p.weight, p.n, [&](uint64_t i) {
		double weight = sl_filter_weight(&p, (uint32_t)i, peak);

		return sl_filter_weigh(&p, MOMENTS, (uint32_t)i, weight, scale, sum);
	});
	sl_block_add<sl_words_of<UINT64_MAX>>(sum, p.word + SL_FILTER_SQUARES);
}

static __global__ void items_kernel(enum sl_filter_work which, struct sl_filter_pass p)
{
	struct sl_filter_sums sums;

	sl_trigger_next();
	sl_wait_for_previous();
	sums = sl_filter_find_sums(&p);
	sl_for_items(p.n, [&](uint64_t i) { sl_filter_item(which, &p, &sums, (uint32_t)i); });
}

enum sl_status SL_NAME(sl_queue_filter)(
	enum sl_filter_work which, const struct sl_filter_pass *p, sl_stream s)
{
	struct sl_limits limits;
	uint32_t blocks = sl_grid(p->n, BLOCK), most;
	bool early;

	SL_TRY(sl_device_limits(&limits));
	most = BLOCKS_PER_MULTIPROCESSOR * limits.multiprocessors;
	early = blocks <= most;
	blocks = early ? blocks : most;
	if (which != SL_FILTER_WEIGH)
		return sl_launch_as(
			"items_kernel", items_kernel, early, blocks, BLOCK, 0, s, which, *p);
	if (p->n_moments == 1)
		return sl_launch_as(
			"weigh_kernel", weigh_kernel<1>, early, blocks, BLOCK, 0, s, *p);
	return sl_launch_as("weigh_kernel", weigh_kernel<SL_FILTER_MOMENTS_MAX>, early, blocks,
		BLOCK, 0, s, *p);
}
