/*
 * score_word.c - tests the counters of scores of collisions: count and sum of many collisions are
 * those of separate additions, whatever the scores.
 */
#include "stages/counting/score_word.h"

#include "stages/particle/random.h"
#include "tests/support/basic/check.h"

enum { COLLISIONS = 500000, CHECK_EVERY = 10007 };

/* The largest score, with a margin for the rounding of weights. */
#define LARGEST (3 * (UINT64_C(1) << 31))

/*
 * Adds collisions of one score, or, if it is ANY, of random ones. Compares count and sum after some
 * of them.
 */
#define ANY UINT64_MAX

static void expect_sums(uint64_t score)
{
	uint64_t count = 0, sum = 0, total = 0;

	for (uint64_t i = 0; i < COLLISIONS; i++) {
		uint64_t now = score == ANY ? sl_draw(3, i, 0).at[0] : score;

		sl_score_add(&count, &sum, SL_SCORE_ONE + now);
		sl_score_add(&count, &sum, 0); /* a lane without a collision */
		total += now;
		if (i % CHECK_EVERY == 0 || i + 1 == COLLISIONS) {
			uint64_t is_count = count, is_sum = sum;

			sl_score_separate(&is_count, &is_sum);
			assert_int_equal(is_count, i + 1);
			assert_int_equal(is_sum, total);
		}
	}
}

/* 0 and 2^15 - 1 collisions are not carried, 2^15 are: the sums of both are the same. */
TEST(counts_and_sums_are_exact)
{
	expect_sums(0);
	expect_sums(UINT64_C(1) << 32);
	expect_sums(LARGEST);
	expect_sums(ANY);
}

/*
 * The sum is modulo 2^64, as that of a device; the count stays exact, so that the overflow is seen.
 */
TEST(a_sum_that_overflows_keeps_the_count)
{
	uint64_t count = (UINT64_C(1) << 32) - 1 + ((UINT64_C(1) << 18) - 1) * (UINT64_C(1) << 46);
	uint64_t sum = SL_SCORE_LOW;

	for (int i = 0; i < 1 << 15; i++)
		sl_score_add(&count, &sum, SL_SCORE_ONE + (UINT64_C(1) << 32));
	sl_score_separate(&count, &sum);
	assert_int_equal(count, (UINT64_C(1) << 32) - 1 + (1 << 15));
	assert_int_equal(sum, UINT64_MAX + (UINT64_C(1) << 47));
}
