/*
 * digest.h - a digest of a column that can be summed in any order.
 *
 * digest = sum over rows i of weight(i) * bits of value i, modulo 2^64. A sum commutes, so threads,
 * blocks and devices may add their parts as they come; the weight of a row makes the digest depend
 * on the order of rows all the same. Weights look random, so values that differ give another sum
 * but for one time in 2^33 (multilinear hashing: Lemire and Kaser, Strongly universal string
 * hashing is fast, 2014), and are odd, so one changed bit always does. All columns of a row share
 * its weight: a value costs a multiplication. It finds accidents; it is not meant against an
 * adversary.
 */
#ifndef SL_STAGES_PARTICLE_DIGEST_H
#define SL_STAGES_PARTICLE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

SL_C_BEGIN

struct sl_table;
struct sl_table_column;
struct sl_device_packed;

/*
 * A well-mixed word of two: the finalizer of SplitMix64, applied to bits + (i + 1) * golden ratio.
 * (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014.)
 */
SL_HD uint64_t sl_digest_mix(uint64_t i, uint64_t bits)
{
	uint64_t z = bits + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

SL_HD uint64_t sl_digest_weight(uint64_t row)
{
	return sl_digest_mix(row, 0) | 1;
}

/*
 * What a value, its bits zero-extended to 64, adds to the digest of its column in a row of that
 * weight. The upper half of 64 bits has a weight of its own: two upper ends that change would
 * cancel.
 */
SL_HD uint64_t sl_digest_item(uint64_t weight, uint64_t bits)
{
	uint64_t upper = (weight << 32 | weight >> 32) | 1;

	return weight * (uint32_t)bits + upper * (bits >> 32);
}

enum { SL_DIGEST_ROWS = 512 }; /* whose weights are made at a time: 4 KiB, for all columns */

SL_HD uint64_t sl_digest_word(uint64_t j, uint64_t word)
{
	return sl_digest_weight(j / SL_DIGEST_ROWS) *
	       sl_digest_item(sl_digest_weight(j % SL_DIGEST_ROWS), word);
}

/* Host only: weights of n rows from that one on, SL_DIGEST_ROWS at most. */
SL_HD void sl_digest_weights(uint64_t from, uint32_t n, uint64_t weight[SL_DIGEST_ROWS])
{
	for (uint32_t k = 0; k < n; k++)
		weight[k] = sl_digest_weight(from + k);
}

/*
 * Are the columns of a table that was copied still those that were digested? SL_DEVICE_FAILED, and
 * which is not. Host only.
 */
enum sl_status sl_digest_check(const struct sl_table *t);

/* The digest of a column's n rows, a constant in each of them. Host only. */
uint64_t sl_digest_column(const struct sl_table_column *c, uint32_t n);

/*
 * The same of bytes, as words of 8, least byte first, the last filled up with zeros. Word j of them
 * adds sl_digest_word(j, word): a block of SL_DIGEST_ROWS words has the same weights as any other,
 * and one of its own, so that weights are made once. Host only.
 */
uint64_t sl_digest_bytes(const void *bytes, size_t n);

/* Are the bytes that a device has made still what was digested? As sl_digest_check(). */
enum sl_status sl_device_packed_check(const struct sl_device_packed *p);

SL_C_END

#endif
