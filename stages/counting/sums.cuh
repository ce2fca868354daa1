/*
 * sums.cuh - adds the counts that the threads of a kernel keep in registers: tallies and digests.
 *
 * When a thread has processed all of its particles or rows, each warp adds the words of its lanes
 * by shuffles, each block adds its warps in shared memory, and one thread per word adds the result
 * to the sums of the batch with an atomic addition. That is a few thousand atomic additions per
 * batch. All sums are integers, so the order does not matter.
 */
#ifndef SL_STAGES_COUNTING_SUMS_CUH
#define SL_STAGES_COUNTING_SUMS_CUH

#include "primitives/kernel/kernel.cuh"
#include "stages/batch/batch.h"
#include "stages/particle/digest.h"
#include "stages/particle/math.h"
#include "stages/particle/weight.h"

/* The sum over the lanes of a warp, in lane 0. */
static __device__ __forceinline__ uint64_t sl_warp_sum(uint64_t v)
{
	for (uint32_t by = 16; by > 0; by /= 2)
		v += __shfl_down_sync(SL_LANES, v, by);
	return v;
}

/* A set of words, by its bits: the words that sl_block_add() is to add. */
template <uint64_t set> struct sl_words_of {
	static __device__ constexpr bool has(int word)
	{
		return SL_HAS(set, word);
	}
};

/*
 * Adds the words of all threads to sum. All threads of a block call it, once per kernel. Words that
 * are not in the set Used are always 0 and are skipped.
 */
template <class Used, int WORDS>
static __device__ __forceinline__ void sl_block_add(const uint64_t (&mine)[WORDS], uint64_t *sum)
{
	struct block_words {
		uint64_t word[WORDS];
	};
	SL_SHARED(struct block_words, block);

	for (uint32_t k = threadIdx.x; k < WORDS; k += blockDim.x)
		block.word[k] = 0;
	__syncthreads();
	SL_UNROLL
	for (int k = 0; k < WORDS; k++)
		if (Used::has(k)) {
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

/* A tally as an array of words, for sl_block_add(). */
union sl_tally_words {
	struct sl_tally t;
	uint64_t word[sizeof(struct sl_tally) / sizeof(uint64_t)];
};

/*
 * The words of a tally that particles with these fates and columns add to, for sl_block_add().
 * squared: with squares.
 */
template <sl_fate_set fates, sl_column_set columns, bool squared> struct sl_tally_used {
	static __device__ constexpr bool has(int word)
	{
		if (word < 3 * SL_FATE_COUNT)
			return SL_HAS(fates, word % SL_FATE_COUNT) &&
			       (squared || word < 2 * SL_FATE_COUNT);
		return word < 3 * SL_FATE_COUNT + 2 &&
		       SL_HAS(columns,
			       word == 3 * SL_FATE_COUNT ? SL_COLUMN_steps : SL_COLUMN_collisions);
	}
};
static_assert(sizeof(struct sl_tally) == (3 * SL_FATE_COUNT + 3) * sizeof(uint64_t),
	"sl_tally_used must cover all words of a tally");

/*
 * Adds a number to the sum of a fate. fates are the possible fates, a constant at each call. The
 * loop compares fates instead of indexing, because registers cannot be indexed.
 */
template <class Sum>
static __device__ __forceinline__ void sl_tally_add(
	Sum (&sum)[SL_FATE_COUNT], sl_fate_set fates, uint8_t fate, uint64_t number)
{
	SL_UNROLL
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(fates, f))
			sum[f] += fate == f ? (Sum)number : 0;
}

/* Sums of squared weights of a block, in shared memory: registers are scarce during histories. */
struct sl_block_squares {
	uint64_t of_fate[SL_FATE_COUNT];
};

/*
 * Adds those of a warp, by its fates; all of its lanes call it. square: 0 where a lane has no
 * particle.
 */
static __device__ __forceinline__ void sl_block_squares_add(
	struct sl_block_squares *block, sl_fate_set fates, uint8_t fate, uint64_t square)
{
	SL_UNROLL
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		bool mine = SL_HAS(fates, f) && square != 0 && fate == f;

		if (!SL_HAS(fates, f) || __ballot_sync(SL_LANES, mine) == 0)
			continue;
		uint64_t of_warp = sl_warp_sum(mine ? square : 0);

		if (threadIdx.x % 32 == 0)
			atomicAdd(&block->of_fate[f], of_warp);
	}
}

/*
 * Counts, for one thread, how many of at most 15 particles end with each of the given fates. Each
 * count has four bits of a word, in order of fates from the first one given. A word has room for 16
 * fates, so that the models of today need one word; where the first and the last fate of a model
 * are farther apart, there are up to four words.
 */
template <sl_fate_set fates, bool weighted> struct sl_fate_counts {
	static constexpr uint32_t first = (uint32_t)__builtin_ctzll(fates);
	static constexpr uint32_t span = 64 - (uint32_t)__builtin_clzll(fates) - first;
	static constexpr uint32_t words = (span + 15) / 16;

	uint64_t four_bits[words];

	__device__ __forceinline__ void count(uint8_t fate)
	{
		uint32_t at = 4 * (fate - first); /* any other fate: past all words */

		SL_UNROLL
		for (uint32_t w = 0; w < words; w++, at -= 64)
			if (span <= 8)
				four_bits[w] = (uint32_t)four_bits[w] + (at < 32 ? 1u << at : 0);
			else
				four_bits[w] += at < 64 ? UINT64_C(1) << at : 0;
	}

	/* Adds the counts to t, and, where each particle weighs 1, the weights. */
	__device__ __forceinline__ void add_to(struct sl_tally *t) const
	{
		SL_UNROLL
		for (uint32_t f = first; f < first + span; f++) {
			uint64_t word = four_bits[(f - first) / 16];
			uint32_t n = (uint32_t)(word >> 4 * ((f - first) % 16)) & 15;

			if (!SL_HAS(fates, f))
				continue;
			t->count[f] += n;
			if (!weighted)
				t->weight[f] += (uint64_t)n << 32;
		}
	}
};

/* --- digests ---------------------------------------------------------------------------------- */

/* The bits of a value, zero-extended to 64. */
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
