/*
 * block_histogram.cuh - the histograms of one thread block: counters in shared memory, which are added
 * to the histograms of the batch when the block ends.
 *
 * A batch has fewer than 2^32 particles, so the 32-bit counters of a block cannot overflow. If most
 * particles fall into one bin, the atomic additions of a warp to that counter are serialised, but in
 * the shared memory of one multiprocessor and not in global memory.
 */
#ifndef SL_STAGES_COUNTING_BLOCK_HISTOGRAM_CUH
#define SL_STAGES_COUNTING_BLOCK_HISTOGRAM_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/particle/weight.h"
#include "stages/selection/histogram.h"

/* The counters of a block: sums of weights, if any, then counts. */
struct sl_block_histogram {
	uint64_t *weight;
	uint32_t *count;
};

/* The counters at an address in shared memory, which must be aligned to 8 bytes. */
static __device__ __forceinline__ struct sl_block_histogram sl_block_histogram_at(
	const struct sl_histogram_set *b, void *address)
{
	uint64_t *weight = (uint64_t *)address;

	return {weight, (uint32_t *)(void *)(weight + (b->weighted ? b->n_counters : 0))};
}

/* Sets the counters to 0. All threads of a block call it, and then synchronise before counting. */
static __device__ __forceinline__ void sl_block_histogram_clear(
	const struct sl_histogram_set *b, struct sl_block_histogram h)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		h.count[k] = 0;
		if (b->weighted)
			h.weight[k] = 0;
	}
}

/* Counts particle i in each histogram. fate must be less than SL_FATE_COUNT. */
static __device__ __forceinline__ void sl_block_histogram_count(const struct sl_histogram_set *b,
	struct sl_block_histogram h, const struct sl_columns *c, uint64_t i, uint8_t fate,
	float weight)
{
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t at = sl_histogram_find(&b->tally[k], c, i, fate);

		if (at == SL_NO_COUNTER)
			continue;
		atomicAdd(&h.count[at], 1);
		if (b->weighted)
			atomicAdd(&h.weight[at], sl_fixed_weight(weight));
	}
}

/* Adds the counters to sum in global memory. All threads of a block call it, after synchronising. */
static __device__ __forceinline__ void sl_block_histogram_add(
	const struct sl_histogram_set *b, struct sl_block_histogram h, uint64_t *sum)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		if (h.count[k] == 0)
			continue;
		atomicAdd(&sum[k], (uint64_t)h.count[k]);
		if (b->weighted)
			atomicAdd(&sum[b->n_counters + k], h.weight[k]);
	}
}

#endif
