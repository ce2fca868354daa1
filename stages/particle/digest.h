/*
 * digest.h - digests of columns and bytes that can be summed in any order.
 *
 * digest = sum over rows i of weight(i) * bits of value i, modulo 2^64. The sum commutes, so
 * threads, blocks and devices may add their parts in any order; the weights make the digest depend
 * on the order of the rows nevertheless. Weights are pseudo-random, so two columns that differ have
 * the same digest with probability 2^-33 (multilinear hashing: Lemire and Kaser, Strongly universal
 * string hashing is fast, 2014). Weights are odd, so a single changed bit always changes the
 * digest. All columns of a row share its weight, so that a value costs one multiplication. A digest
 * detects accidents; it does not protect against an adversary.
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
 * Mixes two words into one: the finalizer of SplitMix64, applied to bits + (i + 1) * golden ratio.
 * (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014.)
 */
SL_HD uint64_t sl_digest_mix(uint64_t i, uint64_t bits)
{
	uint64_t z = bits + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The weight of a row: pseudo-random and odd. */
SL_HD uint64_t sl_digest_weight(uint64_t row)
{
	return sl_digest_mix(row, 0) | 1;
}

/*
 * The term of a value (its bits zero-extended to 64) in the digest of its column. The upper 32 bits
 * have different weights: otherwise a change of the top bits of two rows could cancel.
 */
SL_HD uint64_t sl_digest_item(uint64_t weight, uint64_t bits)
{
	uint64_t upper = (weight << 32 | weight >> 32) | 1;

	return weight * (uint32_t)bits + upper * (bits >> 32);
}

enum { SL_DIGEST_ROWS = 512 }; /* rows whose weights are computed at once: 4 KiB */

/* The term of 64-bit word j in the digest of a byte array, see sl_digest_bytes(). */
SL_HD uint64_t sl_digest_word(uint64_t j, uint64_t word)
{
	return sl_digest_weight(j / SL_DIGEST_ROWS) *
	       sl_digest_item(sl_digest_weight(j % SL_DIGEST_ROWS), word);
}

/* Host only: the weights of n rows from row from on; n is at most SL_DIGEST_ROWS. */
SL_HD void sl_digest_weights(uint64_t from, uint32_t n, uint64_t weight[SL_DIGEST_ROWS])
{
	for (uint32_t k = 0; k < n; k++)
		weight[k] = sl_digest_weight(from + k);
}

/*
 * Checks a table copied from a device against the digests computed there. SL_DEVICE_FAILED with the
 * name of the column if one differs. Host only.
 */
enum sl_status sl_digest_check(const struct sl_table *t);

/*
 * The digests of all columns of t, in their order; a constant column has its value in each row.
 * Takes O(rows) for all constant columns together. Host only.
 */
void sl_digest_columns(const struct sl_table *t, uint64_t digest[]);

/*
 * Adds the terms of all rows of t, which are the rows from first on of a larger table, to its
 * digests.
 */
void sl_digest_add_rows(const struct sl_table *t, uint64_t first, uint64_t digest[]);

/* Sets the digest of each column of t. Host only. */
void sl_digest_table(struct sl_table *t);

/*
 * The digest of n bytes, read as little-endian words of 64 bits, the last one padded with zeros.
 * Word j adds sl_digest_word(j, word): the weights inside a block of SL_DIGEST_ROWS words are the
 * same for each block, multiplied by a weight of the block, so that they are computed only once.
 * Host only.
 */
uint64_t sl_digest_bytes(const void *bytes, size_t n);

/*
 * Checks packed data copied from a device against its digest, and sets p->crc. SL_DEVICE_FAILED if
 * the digest differs. Host only.
 */
enum sl_status sl_device_packed_check(struct sl_device_packed *p);

SL_C_END

#endif
