/*
 * random.h - counter-based random numbers: Philox4x32-10, numbered as by cuRAND's device generator.
 *
 * Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC 2011). Word k of a
 * particle is a pure function of (seed, id, k): the value that curand() returns after
 * curand_init(seed, id, k, &state) for a curandStatePhilox4_32_10_t. Any particle can therefore be
 * computed alone, and there is no generator state. sl_draw() returns a block of four words, so that
 * a rule that needs up to four words per step makes one call.
 */
#ifndef SL_STAGES_PARTICLE_RANDOM_H
#define SL_STAGES_PARTICLE_RANDOM_H

#include "stages/particle/lanes.h"

#ifdef __CUDACC__
#include <curand_philox4x32_x.h>
#endif

struct sl_words {
	sl_u32 at[4];
};

/* Multipliers and Weyl increments of the keys (golden ratio, sqrt(3) - 1) as in the paper. */
#define SL_PHILOX_M0     0xd2511f53u
#define SL_PHILOX_M1     0xcd9e8d57u
#define SL_PHILOX_W0     0x9e3779b9u
#define SL_PHILOX_W1     0xbb67ae85u
#define SL_PHILOX_ROUNDS 10

/*
 * Applies the Philox bijection of the key (key0, key1) to a counter. CUDA devices use cuRAND's own
 * function, which NVIDIA tunes for them; tests/stages/rules checks that the words are the same.
 */
#if SL_SIMD_LANES == 1
SL_HD struct sl_words sl_philox(struct sl_words counter, uint32_t key0, uint32_t key1)
{
#ifdef __CUDA_ARCH__
	uint4 c = {counter.at[0], counter.at[1], counter.at[2], counter.at[3]};
	uint2 key = {key0, key1};

	c = curand_Philox4x32_10(c, key);
	return {{c.x, c.y, c.z, c.w}};
#else
	for (int round = 0; round < SL_PHILOX_ROUNDS; round++) {
		uint64_t a = (uint64_t)SL_PHILOX_M0 * counter.at[0];
		uint64_t b = (uint64_t)SL_PHILOX_M1 * counter.at[2];

		counter.at[0] = (uint32_t)(b >> 32) ^ counter.at[1] ^ key0;
		counter.at[1] = (uint32_t)b;
		counter.at[2] = (uint32_t)(a >> 32) ^ counter.at[3] ^ key1;
		counter.at[3] = (uint32_t)a;
		key0 += SL_PHILOX_W0;
		key1 += SL_PHILOX_W1;
	}
	return counter;
#endif
}
#else
/*
 * Processors multiply vectors of 32-bit numbers to 64 bits in 64-bit lanes. So the words are kept
 * in the low halves of such lanes, even and odd lanes apart, and the upper halves are ignored.
 */
static inline void sl_philox_pairs(sl_pairs c[4], uint32_t key0, uint32_t key1)
{
	const sl_pairs m0 = (sl_pairs){0} + SL_PHILOX_M0, m1 = (sl_pairs){0} + SL_PHILOX_M1;

	for (int round = 0; round < SL_PHILOX_ROUNDS; round++) {
		sl_pairs a = sl_multiply_low(c[0], m0), b = sl_multiply_low(c[2], m1);

		c[0] = b >> 32 ^ c[1] ^ key0;
		c[1] = b;
		c[2] = a >> 32 ^ c[3] ^ key1;
		c[3] = a;
		key0 += SL_PHILOX_W0;
		key1 += SL_PHILOX_W1;
	}
}

static inline struct sl_words sl_philox(struct sl_words counter, uint32_t key0, uint32_t key1)
{
	sl_pairs even[4], odd[4];

	for (int k = 0; k < 4; k++) {
		even[k] = (sl_pairs)counter.at[k];
		odd[k] = (sl_pairs)counter.at[k] >> 32;
	}
	sl_philox_pairs(even, key0, key1);
	sl_philox_pairs(odd, key0, key1);
	for (int k = 0; k < 4; k++)
		counter.at[k] = (sl_u32)((even[k] & UINT32_MAX) | odd[k] << 32);
	return counter;
}
#endif

/* Words 4 * block to 4 * block + 3 of particle id. */
SL_HD struct sl_words sl_draw(uint64_t seed, sl_u64 id, sl_u64 block)
{
	struct sl_words counter = {{sl_low(block), sl_high(block), sl_low(id), sl_high(id)}};

	return sl_philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/*
 * The uniform number of curand_uniform(): word * 2^-32 + 2^-33, in (0, 1]. Multiplication by a
 * power of two is exact, so a fused and a separate addition round alike. The smallest value is
 * 2^-33, so
 * -log(u) <= 22.88; the 128 largest words give exactly 1.
 */
SL_HD sl_f32 sl_uniform(sl_u32 word)
{
	return sl_f32_of(word) * 0x1p-32f + 0x1p-33f;
}

#endif
