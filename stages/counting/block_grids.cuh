/*
 * block_grids.cuh - the tallies of one thread block: counters in shared memory, which are added to
 * those of the batch when the block ends.
 *
 * A batch has fewer than 2^32 particles, so the 32-bit counters of a block cannot overflow. If most
 * particles fall into one bin, the atomic additions of a warp to that counter are serialised, but
 * in the shared memory of one multiprocessor and not in global memory.
 */
#ifndef SL_STAGES_COUNTING_BLOCK_GRIDS_CUH
#define SL_STAGES_COUNTING_BLOCK_GRIDS_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/particle/weight.h"
#include "stages/selection/grid.h"

/* The counters of a block: sums of weights and of their squares, if any, then counts. */
struct sl_block_sums {
	uint64_t *weight, *square; /* square: NULL: in the batch, or there are none */
	uint32_t *count;
	uint64_t *batch; /* the counters of the batch, in global memory */
};

/* The counters at an address in shared memory, which must be aligned to 8 bytes. */
static __device__ __forceinline__ struct sl_block_sums sl_block_sums_at(
	const struct sl_block_grids *b, void *address, uint64_t *batch)
{
	uint64_t *weight = (uint64_t *)address, *end = weight + (b->weighted ? b->n_counters : 0);

	if (!sl_block_squares_shared(b))
		return {weight, NULL, (uint32_t *)(void *)end, batch};
	return {weight, end, (uint32_t *)(void *)(end + b->n_counters), batch};
}

/* Sets the counters to 0. All threads of a block call it, and then synchronise before counting. */
static __device__ __forceinline__ void sl_block_sums_clear(
	const struct sl_block_grids *b, struct sl_block_sums h)
{
	for (uint32_t k = threadIdx.x; k < b->n_counters; k += blockDim.x) {
		h.count[k] = 0;
		if (b->weighted)
			h.weight[k] = 0;
		if (sl_block_squares_shared(b))
			h.square[k] = 0;
	}
}

/* Counts particle i in each tally. fate must be less than SL_FATE_COUNT. */
static __device__ __forceinline__ void sl_block_sums_count(const struct sl_block_grids *b,
	struct sl_block_sums h, const struct sl_columns *c, uint64_t i, uint8_t fate, float weight,
	float weight_scale, float square_scale)
{
	for (uint32_t k = 0; k < b->n; k++) {
		const struct sl_block_grid *g = &b->grid[k];
		uint32_t at = sl_block_grid_find(g, c, i, fate);
		uint64_t *square;

		if (at == SL_NO_BLOCK_COUNTER)
			continue;
		atomicAdd(&h.count[at], 1);
		if (!b->weighted)
			continue;
		atomicAdd(&h.weight[at], sl_fixed_weight(weight * weight_scale));
		square = h.square ? h.square + at
		                  : h.batch + g->first_word + 2 * g->stride + at - g->in_block;
		atomicAdd(square, sl_fixed_square(weight * square_scale));
	}
}

/*
 * Adds the counters to those of the batch. All threads of a block call it, after synchronising.
 */
static __device__ __forceinline__ void sl_block_sums_add(
	const struct sl_block_grids *b, struct sl_block_sums h)
{
	for (uint32_t k = 0; k < b->n; k++) {
		const struct sl_block_grid *g = &b->grid[k];

		for (uint32_t i = threadIdx.x; i < g->counters; i += blockDim.x) {
			const uint32_t at = g->in_block + i;
			uint64_t *to = h.batch + g->first_word + i;

			if (h.count[at] == 0)
				continue;
			atomicAdd(to, (uint64_t)h.count[at]);
			if (b->weighted)
				atomicAdd(to + g->stride, h.weight[at]);
			if (h.square)
				atomicAdd(to + 2 * g->stride, h.square[at]);
		}
	}
}

#endif
