/*
 * digest.h - a digest of a column that can be summed in any order.
 *
 * digest = sum over rows i of mix(i, bits of value i), modulo 2^64. A sum commutes, so threads,
 * blocks and devices may add their parts as they come; the row number inside mix makes the digest
 * depend on the order of rows all the same. mix is the finalizer of SplitMix64 (Steele, Lea, Flood,
 * Fast splittable pseudorandom number generators, 2014) applied to value + (i + 1) * golden ratio.
 * It finds accidents; it is not meant against an adversary.
 */
#ifndef SL_DIGEST_H
#define SL_DIGEST_H

#include <stdint.h>

#include "primitives/base/status.h"

SL_C_BEGIN

struct sl_table;
struct sl_table_column;

/* What row i with these bits (zero-extended to 64) adds to the digest of its column. */
SL_HD uint64_t sl_digest_item(uint64_t i, uint64_t bits)
{
	uint64_t z = bits + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/*
 * Are the columns of a table that was copied still those that were digested? SL_DEVICE_FAILED, and
 * which is not. Host only.
 */
enum sl_status sl_digest_check(const struct sl_table *t);

/* The digest of a column's n rows, a constant in each of them. Host only. */
uint64_t sl_digest_column(const struct sl_table_column *c, uint32_t n);

SL_C_END

#endif
