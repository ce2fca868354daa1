/*
 * mark.cu - keep flags, and the tallies of a batch: the kernel beside mark.c's loop.
 *
 * A thread takes particles in strides of the grid and counts them in registers; a block adds up
 * what its threads have in shared memory, then adds that to the tally: a few thousand atomic
 * additions a batch. All are of integers, so their order does not matter.
 *
 * Reads fate, weight, steps and collisions, writes the flag: 14 bytes a particle at most.
 */
#include "stages/mark.h"

#include "primitives/base/kernel.cuh"
#include "stages/kernels.h"

enum {
	BLOCK = 256,
	EACH = 16,          /* particles a thread at least: adding up a block is not for nothing */
	BLOCKS_MOST = 1024, /* about eight a multiprocessor on the largest devices */
	WORDS = sizeof(struct sl_tally) / sizeof(uint64_t)
};

/* A tally as words, to be added up one by one. */
union tally {
	struct sl_tally t;
	uint64_t word[WORDS];
};

/* Adds a particle of that fate. Fates are compared, not indexed by: registers have no addresses. */
static __device__ void count(struct sl_tally *t, uint8_t fate, uint64_t weight)
{
	SL_UNROLL
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		t->count[f] += fate == f;
		t->weight[f] += fate == f ? weight : 0;
	}
}

/* The sum over the lanes of a warp, in lane 0. */
static __device__ uint64_t warp_sum(uint64_t v)
{
	for (uint32_t by = 16; by > 0; by /= 2)
		v += __shfl_down_sync(SL_LANES, v, by);
	return v;
}

static __global__ void mark_kernel(
	struct sl_columns c, uint32_t keep, uint8_t *flag, uint32_t n, uint64_t *sum)
{
	SL_SHARED(union tally, block);
	union tally mine = {};
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;

	for (uint32_t k = threadIdx.x; k < WORDS; k += blockDim.x)
		block.word[k] = 0;
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
		uint8_t fate = c.fate[i];
		bool known = fate < SL_FATE_COUNT; /* else memory is damaged: fates do not close */

		flag[i] = known ? sl_keeps(keep, fate) : 0;
		if (known)
			count(&mine.t, fate, sl_fixed_weight(c.weight[i]));
		mine.t.steps += c.steps ? c.steps[i] : 0;
		mine.t.collisions += c.collisions ? c.collisions[i] : 0;
	}
	__syncthreads();
	SL_UNROLL
	for (int k = 0; k < WORDS; k++) {
		uint64_t of_warp = warp_sum(mine.word[k]);

		if (threadIdx.x % 32 == 0)
			atomicAdd(&block.word[k], of_warp);
	}
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < WORDS; k += blockDim.x)
		if (block.word[k] != 0)
			atomicAdd(&sum[k], block.word[k]);
}

enum sl_status SL_NAME(sl_queue_mark)(
	uint32_t keep, const struct sl_batch *b, struct sl_tally *tally, sl_stream s)
{
	uint32_t blocks = sl_grid(b->n, BLOCK * EACH);

	return SL_LAUNCH(mark_kernel, blocks < BLOCKS_MOST ? blocks : (uint32_t)BLOCKS_MOST, BLOCK,
		0, s, b->columns, keep, b->keep, b->n, (uint64_t *)tally);
}
