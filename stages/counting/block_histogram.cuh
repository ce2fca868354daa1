/*
 * block_histogram.cuh - the histograms of one thread block: counters in shared memory, which are
 * added to the histograms of the batch when the block ends.
 *
 * A batch has fewer than 2^32 particles, so the 32-bit counters of a block cannot overflow. If most
 * particles fall into one bin, the atomic additions of a warp to that counter are serialised, but
 * in the shared memory of one multiprocessor and not in global memory.
 */
#ifndef SL_STAGES_COUNTING_BLOCK_HISTOGRAM_CUH
#define SL_STAGES_COUNTING_BLOCK_HISTOGRAM_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/particle/weight.h"
#include "stages/selection/histogram.h"

/* The counters of a block: sums of weights and of their squares, if any, then counts. */
struct sl_block_histogram {
	uint64_t *weight, *square; /* square: in shared memory, or those of the batch */
	uint32_t *count;
};

/*
 * The counters at an address in shared memory, which must be aligned to 8 bytes. sum: those of the
 * batch, in global memory.
 */
static __device__ __forceinline__ struct sl_block_histogram sl_block_histogram_at(
	const struct sl_histogram_set *b, void *address, uint64_t *sum)
{
	uint64_t *weight = (uint64_t *)address, *end = weight + (b->weighted ? b->n_counters : 0);

	if (!sl_histogram_squares_shared(b->n_counters, b->weighted))
		return {weight, sum + 2 * b->n_counters, (uint32_t *)(void *)end};
	return {weight, end, (uint32_t *)(void *)(end + b->n_counters)};
}

/* Sets the counters to 0. All threads of a block call it, and then synchronise before counting. */
static __device__ __forceinline__ void sl_block_histogram_clear(
	const struct sl_histogram_set *b, struct sl_block_histogram h)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		h.count[k] = 0;
		if (b->weighted)
			h.weight[k] = 0;
		if (sl_histogram_squares_shared(b->n_counters, b->weighted))
			h.square[k] = 0;
	}
}

/* Counts particle i in each histogram. fate must be less than SL_FATE_COUNT. */
static __device__ __forceinline__ void sl_block_histogram_count(const struct sl_histogram_set *b,
	struct sl_block_histogram h, const struct sl_columns *c, uint64_t i, uint8_t fate,
	float weight, float weight_scale)
{
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t at = sl_histogram_find(&b->tally[k], c, i, fate);

		if (at == SL_NO_COUNTER)
			continue;
		atomicAdd(&h.count[at], 1);
		if (!b->weighted)
			continue;
		atomicAdd(&h.weight[at], sl_fixed_weight(weight * weight_scale));
		atomicAdd(&h.square[at], sl_fixed_square(weight * b->square_scale));
	}
}

/*
 * Adds the counters to sum in global memory. All threads of a block call it, after synchronising.
 */
static __device__ __forceinline__ void sl_block_histogram_add(
	const struct sl_histogram_set *b, struct sl_block_histogram h, uint64_t *sum)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		if (h.count[k] == 0)
			continue;
		atomicAdd(&sum[k], (uint64_t)h.count[k]);
		if (!b->weighted)
			continue;
		atomicAdd(&sum[b->n_counters + k], h.weight[k]);
		if (sl_histogram_squares_shared(b->n_counters, b->weighted))
			atomicAdd(&sum[2 * b->n_counters + k], h.square[k]);
	}
}

#endif
