/*
 * score_word.h - the counters of scores of collisions while the host computes a batch.
 *
 * A cell has a count and a sum (stages/selection/grid.h). Most collisions are far from the one
 * before, so the cost of counting them is the cache. Until the batch ends, one word therefore has
 * the low bits of both, and the other one the high bits:
 *
 *	in the place of the sum     bits 0 to 47: the sum;  bits 48 to 63: the count
 *	in the place of the count   bits 0 to 45: the count;  bits 46 to 63: the sum, from its bit 46 on
 *
 * A collision is one addition to the first of these words. It is negative after 2^15 collisions,
 * which score at most 1.5 * 2^47; then its high bits are carried. Zeros are the counters of no
 * collision in both forms.
 */
#ifndef SL_STAGES_COUNTING_SCORE_WORD_H
#define SL_STAGES_COUNTING_SCORE_WORD_H

#include <stdint.h>

#define SL_SCORE_ONE  (UINT64_C(1) << 48) /* a collision that scores 0 */
#define SL_SCORE_LOW  ((UINT64_C(1) << 46) - 1)
#define SL_SCORE_HIGH (SL_SCORE_ONE - 1 - SL_SCORE_LOW)

/* Leaves only the low bits of the sum in its word. */
static inline void sl_score_carry(uint64_t *count, uint64_t *sum)
{
	*count += *sum / SL_SCORE_ONE + (*sum & SL_SCORE_HIGH);
	*sum &= SL_SCORE_LOW;
}

/* Adds collisions, each SL_SCORE_ONE and its score, of at most 1.5 * 2^32. */
static inline void sl_score_add(uint64_t *count, uint64_t *sum, uint64_t one_and_score)
{
	*sum += one_and_score;
	if ((int64_t)*sum < 0)
		sl_score_carry(count, sum);
}

/* Separates count and sum. */
static inline void sl_score_separate(uint64_t *count, uint64_t *sum)
{
	sl_score_carry(count, sum);
	*sum += *count & ~SL_SCORE_LOW;
	*count &= SL_SCORE_LOW;
}

#endif
