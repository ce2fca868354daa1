/*
 * boundaries.h - where each part of a global sort begins in each sorted share.
 *
 * Part i begins at rank floor(i N / n) of the N keys of n shares. The key at a rank is found by narrowing a
 * range of values: in each round all shares count the keys up to each of many values in the range. Keys that are
 * equal to it are taken from the shares in their order, so that the boundary is exact and the sort stable.
 */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_BOUNDARIES_H
#define SL_PRIMITIVES_GLOBAL_SORT_BOUNDARIES_H

#include "primitives/global_sort/runs.h"

/*
 * Values that all boundaries together try in a round. Two shares have one boundary: 2047 values determine eleven
 * bits of its key. 32 shares have 31 boundaries: 66 values for each determine six bits.
 */
enum { SL_RANKS_MOST = 2047 };

/* The range in which the key at a rank is. */
struct sl_rank_range {
	uint64_t rank; /* 0 for the least key */
	uint64_t low, high;
};

/* Writes the values to try, at most `most`, ascending and less than high. Returns their number: 0 if low = high. */
uint32_t sl_rank_values(const struct sl_rank_range *r, uint32_t most, uint64_t *value);

/* Narrows the range: not_more[k] keys of all shares are not more than value[k], for each of the n values. */
void sl_rank_narrow(
	struct sl_rank_range *r, const uint64_t *value, const uint64_t *not_more, uint32_t n);

/*
 * Sets at[i] to the number of pairs of share i before the boundary at a rank: all that are less than the key
 * there, and as many equal ones, from the first share on, as the rank takes. of[i] has the ranks of that key.
 */
void sl_rank_divide(uint64_t rank, const struct sl_run_rank *of, uint32_t n_shares, uint32_t *at);

#endif
