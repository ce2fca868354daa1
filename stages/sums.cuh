/*
 * sums.cuh - tallies and digests: what threads have counted in registers, added up.
 *
 * Once a thread has seen all of its particles or rows, a warp adds up what its lanes have, a block
 * what its warps have, in shared memory, and adds that to the sums of the batch: a few thousand
 * atomic additions a batch. All are of integers, so their order does not matter.
 */
#ifndef SL_STAGES_SUMS_CUH
#define SL_STAGES_SUMS_CUH

#include "primitives/base/kernel.cuh"
#include "stages/batch/batch.h"
#include "stages/particle/digest.h"
#include "stages/mark.h"
#include "stages/particle/math.h"

/* The sum over the lanes of a warp, in lane 0. */
static __device__ __forceinline__ uint64_t sl_warp_sum(uint64_t v)
{
	for (uint32_t by = 16; by > 0; by /= 2)
		v += __shfl_down_sync(SL_LANES, v, by);
	return v;
}

/*
 * For all threads of a block, once a kernel: adds the words that each has to sum. Those that are
 * not in the set used are 0 by their nature, and are passed over.
 */
template <uint32_t used, int WORDS>
static __device__ __forceinline__ void sl_block_add(const uint64_t (&mine)[WORDS], uint64_t *sum)
{
	struct words {
		uint64_t word[WORDS];
	};
	SL_SHARED(struct words, block);

	static_assert(WORDS <= 32, "the set of words used has 32 bits");
	for (uint32_t k = threadIdx.x; k < WORDS; k += blockDim.x)
		block.word[k] = 0;
	__syncthreads();
	SL_UNROLL
	for (int k = 0; k < WORDS; k++)
		if (SL_HAS(used, k)) {
			uint64_t of_warp = sl_warp_sum(mine[k]);

			if (threadIdx.x % 32 == 0)
				atomicAdd(&block.word[k], of_warp);
		}
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < WORDS; k += blockDim.x)
		if (block.word[k] != 0)
			atomicAdd(&sum[k], block.word[k]);
}

/* --- tallies ---------------------------------------------------------------------------------- */

/* A tally as words, to be added up one by one. */
union sl_tally_words {
	struct sl_tally t;
	uint64_t word[sizeof(struct sl_tally) / sizeof(uint64_t)];
};

/* The words that particles with those fates and columns add to: the set for sl_block_add(). */
static __host__ __device__ constexpr uint32_t sl_tally_used(uint32_t fates, uint32_t columns)
{
	return fates | fates << SL_FATE_COUNT |
	       SL_HAS(columns, SL_COLUMN_steps) << 2 * SL_FATE_COUNT |
	       SL_HAS(columns, SL_COLUMN_collisions) << (2 * SL_FATE_COUNT + 1);
}
static_assert(sizeof(struct sl_tally) == (2 * SL_FATE_COUNT + 2) * sizeof(uint64_t),
	"a tally has words that sl_tally_used() does not know");

/*
 * Adds the weight of a particle of that fate, if it is one of fates, a constant at each call. Fates
 * are compared, not indexed by: registers have no addresses.
 */
static __device__ __forceinline__ void sl_tally_weigh(
	struct sl_tally *t, uint32_t fates, uint8_t fate, float weight)
{
	uint64_t fixed = sl_fixed_weight(weight);

	SL_UNROLL
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(fates, f))
			t->weight[f] += fate == f ? fixed : 0;
}

/* Counts it, too. */
static __device__ __forceinline__ void sl_tally_count(
	struct sl_tally *t, uint32_t fates, uint8_t fate, float weight)
{
	SL_UNROLL
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(fates, f))
			t->count[f] += fate == f;
	sl_tally_weigh(t, fates, fate, weight);
}

/*
 * How many of 15 particles at most a thread has seen end with each of those fates: four bits each,
 * from the first of them.
 */
template <uint32_t fates, bool weighted> struct sl_fate_counts {
	static constexpr uint32_t first = (uint32_t)__builtin_ctz(fates);
	static constexpr uint32_t span = 32 - (uint32_t)__builtin_clz(fates) - first;
	static_assert(span <= 16, "there is no room for all counts");

	uint64_t four_bits;

	__device__ __forceinline__ void count(uint8_t fate)
	{
		uint32_t at = 4 * (fate - first);

		if (span <= 8)
			four_bits = (uint32_t)four_bits + (at < 32 ? 1u << at : 0);
		else
			four_bits += at < 64 ? UINT64_C(1) << at : 0;
	}

	/* Their weight too, where that is 1 each. */
	__device__ __forceinline__ void add_to(struct sl_tally *t) const
	{
		SL_UNROLL
		for (uint32_t f = first; f < first + span; f++) {
			uint32_t n = (uint32_t)(four_bits >> 4 * (f - first)) & 15;

			if (!SL_HAS(fates, f))
				continue;
			t->count[f] += n;
			if (!weighted)
				t->weight[f] += (uint64_t)n << 32;
		}
	}
};

/* --- digests ---------------------------------------------------------------------------------- */

/* A value as bits, zero-extended. */
static __device__ __forceinline__ uint64_t sl_digest_bits(float v)
{
	return sl_bits(v);
}

static __device__ __forceinline__ uint64_t sl_digest_bits(int32_t v)
{
	return (uint32_t)v;
}

template <class Integer> static __device__ __forceinline__ uint64_t sl_digest_bits(Integer v)
{
	return v;
}

#endif
