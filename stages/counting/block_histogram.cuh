/*
 * block_histogram.cuh - tallies by bins in a block: counters in shared memory, added to the batch's at the
 * end.
 *
 * A block counts fewer particles than 2^32, as there are not so many in a batch: its counters of 32
 * bits cannot overflow, and are added to the sums in global memory once, when it is done. Most of
 * the particles may fall into one bin: then the additions of a warp to it are made one after the
 * other, but beside the processor that made the particles, and not all over the device.
 */
#ifndef SL_STAGES_COUNTING_BLOCK_HISTOGRAM_CUH
#define SL_STAGES_COUNTING_BLOCK_HISTOGRAM_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/particle/weight.h"
#include "stages/selection/histogram.h"

/* A block's counters: sums of weights, if any, then counts. */
struct sl_block_histogram {
	uint64_t *weight;
	uint32_t *count;
};

/* Those at some place of shared memory, which is aligned for words of 64 bits. */
static __device__ __forceinline__ struct sl_block_histogram sl_block_histogram_at(
	const struct sl_histogram_set *b, void *place)
{
	uint64_t *weight = (uint64_t *)place;

	return {weight, (uint32_t *)(void *)(weight + (b->weighted ? b->n_counters : 0))};
}

/* For all threads of a block, which must meet at a barrier before any of them counts. */
static __device__ __forceinline__ void sl_block_histogram_clear(
	const struct sl_histogram_set *b, struct sl_block_histogram mine)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		mine.count[k] = 0;
		if (b->weighted)
			mine.weight[k] = 0;
	}
}

/* Counts particle i of the columns, of that fate, one of those that there are, and that weight. */
static __device__ __forceinline__ void sl_block_histogram_count(const struct sl_histogram_set *b,
	struct sl_block_histogram mine, const struct sl_columns *c, uint64_t i, uint8_t fate,
	float weight)
{
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t at = sl_histogram_find(&b->tally[k], c, i, fate);

		if (at == SL_NO_COUNTER)
			continue;
		atomicAdd(&mine.count[at], 1);
		if (b->weighted)
			atomicAdd(&mine.weight[at], sl_fixed_weight(weight));
	}
}

/* For all threads of a block, which have met since the last of them counted: adds to the sums. */
static __device__ __forceinline__ void sl_block_histogram_add(
	const struct sl_histogram_set *b, struct sl_block_histogram mine, uint64_t *sum)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		if (mine.count[k] == 0)
			continue;
		atomicAdd(&sum[k], (uint64_t)mine.count[k]);
		if (b->weighted)
			atomicAdd(&sum[b->n_counters + k], mine.weight[k]);
	}
}

#endif
