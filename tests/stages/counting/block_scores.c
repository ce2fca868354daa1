/*
 * block_scores.c - tests the counters of scores in the shared memory of a block, of 32 bits each,
 * where no run of a test has so many collisions and pieces that they overflow.
 */
#include "tests/stages/counting/block_scores_kernels.h"
#include "tests/support/basic/check.h"

/* Threads of a block that add to counter k. */
static uint64_t threads_of(uint64_t k)
{
	return (THREADS - k + CELLS - 1) / CELLS;
}

static void expect_sums(uint64_t pieces, uint64_t score)
{
	uint64_t got[2 * CELLS], *sums;
	void *memory;

	assert_ok(sl_memory_get(SL_DEVICE, sizeof(got), &memory));
	sums = (uint64_t *)memory;
	assert_ok(sl_fill(sums, 0, sizeof(got), NULL));
	assert_ok(block_scores_add(pieces, score, sums, sums + CELLS));
	assert_ok(sl_copy(got, sums, sizeof(got), NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, memory);
	for (uint64_t k = 0; k < CELLS; k++) {
		uint64_t n = BLOCKS * threads_of(k);

		assert_int_equal(got[k], n * (pieces > 0 ? pieces : 1));
		assert_int_equal(got[CELLS + k], n * score);
	}
}

/*
 * A collision scores at most 2^32. A piece of a flight counts at most 2^30 times, and scores at
 * most 2^62. Sums are modulo 2^64.
 */
TEST(counters_of_blocks_do_not_overflow)
{
	static const uint64_t pieces[] = {0, 1, 3, 1 << 28, (1 << 30) - 1, 1 << 30};
	static const uint64_t scores[] = {0, 1, 1 << 20, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
		UINT64_C(5) << 32, (UINT64_C(1) << 62) - 1};

	for (int i = 0; i < 6; i++)
		for (int k = 0; k < (pieces[i] > 0 ? 7 : 5); k++)
			expect_sums(pieces[i], scores[k]);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
