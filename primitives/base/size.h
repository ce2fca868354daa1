/*
 * size.h - arithmetic of sizes without overflow.
 *
 * Sums and products saturate at SIZE_MAX, which no allocation can satisfy. So a size computed from
 * hostile input ends as "not enough memory", never as a small number that has wrapped.
 */
#ifndef SL_PRIMITIVES_BASE_SIZE_H
#define SL_PRIMITIVES_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

static inline size_t sl_size_add(size_t a, size_t b)
{
	return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static inline size_t sl_size_mul(size_t a, size_t b)
{
	return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

/* size rounded up to a multiple of unit, which is a power of two. */
static inline size_t sl_round_up(size_t size, size_t unit)
{
	return size > SIZE_MAX - (unit - 1) ? SIZE_MAX : (size + unit - 1) & ~(unit - 1);
}

/* ceil(a / b) without overflow. */
static inline uint64_t sl_ceil_div(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

#endif
