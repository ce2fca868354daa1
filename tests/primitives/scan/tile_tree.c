/*
 * tile_tree.c - tests the layout of the trees in shared memory: where each leaf is, and which memory
 * banks the threads of a warp access at each level. The emulated device has no banks, so the test
 * computes them: word w of shared memory is in bank w mod 32.
 */
#include "tests/primitives/scan/tile_tree_kernels.h"

#include "tests/support/basic/check.h"

enum { BANKS = 32, WARP = 32 };

/* Threads that are served together: a warp, or half of one for items of 8 bytes. */
static uint32_t lanes_of(enum sl_type type)
{
	return type == SL_U32 ? WARP : WARP / 2;
}

/*
 * Turns that the accesses of one group of lanes take: lane i accesses the leaf first + i * step. Lanes
 * that access the same bank take one turn each.
 */
static uint32_t turns_of_group(
	enum sl_type type, bool padded, uint32_t first, uint32_t step, uint32_t lanes)
{
	uint32_t in_bank[BANKS] = {0}, turns = 0;

	for (uint32_t i = 0; i < lanes; i++) {
		uint32_t words = (uint32_t)sl_type_bytes(type) / 4;
		uint32_t bank = tree_slot(type, padded, first + i * step) * words % BANKS;

		in_bank[bank]++;
		turns = in_bank[bank] > turns ? in_bank[bank] : turns;
	}
	return turns;
}

/* The most turns of any access of a sweep: every level, left and right children, every group of lanes. */
static uint32_t most_turns(enum sl_type type, bool padded, uint32_t leaves)
{
	uint32_t most = 0;

	for (uint32_t distance = 1; distance < leaves; distance *= 2)
		for (uint32_t i = 0; i < leaves / (2 * distance); i += lanes_of(type))
			for (uint32_t child = 1; child <= 2; child++) {
				uint32_t left = leaves / (2 * distance) - i, turns;

				turns = turns_of_group(type, padded, (2 * i + child) * distance - 1,
					2 * distance,
					left < lanes_of(type) ? left : lanes_of(type));
				most = turns > most ? turns : most;
			}
	return most;
}

TEST(padding_avoids_all_conflicts)
{
	for (uint32_t leaves = 64; leaves <= 16384; leaves *= 2)
		assert_int_equal(most_turns(SL_U32, true, leaves), 1);
	for (uint32_t leaves = 64; leaves <= 4096; leaves *= 2)
		assert_int_equal(most_turns(SL_U64, true, leaves), 1);
}

TEST(without_padding_a_warp_waits)
{
	assert_int_equal(most_turns(SL_U32, false, 64), 2);
	assert_int_equal(most_turns(SL_U32, false, 256), 8);
	assert_int_equal(most_turns(SL_U32, false, 1024), 32);
	assert_int_equal(most_turns(SL_U64, false, 1024), 16);
}

/* No two leaves share a place, and the last one ends where the shared memory ends. */
TEST(leaves_fill_the_memory)
{
	for (int type = SL_U32; type <= SL_U64; type++)
		for (int padding = SL_PADDING_ON; padding <= SL_PADDING_OFF; padding++) {
			const struct sl_tuning tuning = {1024, 16, (enum sl_padding)padding};
			bool padded = padding == SL_PADDING_ON;
			uint32_t leaves = tree_leaves(tuning);
			size_t bytes = sl_type_bytes((enum sl_type)type);

			for (uint32_t i = 1; i < leaves; i++)
				assert_true(tree_slot((enum sl_type)type, padded, i) >
					    tree_slot((enum sl_type)type, padded, i - 1));
			assert_int_equal(tree_bytes((enum sl_type)type, tuning),
				(tree_slot((enum sl_type)type, padded, leaves - 1) + 1) * bytes);
			assert_true(
				padded || tree_bytes((enum sl_type)type, tuning) == leaves * bytes);
		}
}

TEST(a_tree_has_a_power_of_two_of_leaves)
{
	assert_int_equal(tree_leaves((struct sl_tuning){256, 4, SL_PADDING_ON}), 1024);
	assert_int_equal(tree_leaves((struct sl_tuning){96, 2, SL_PADDING_ON}), 256);
	assert_int_equal(tree_leaves((struct sl_tuning){32, 1, SL_PADDING_OFF}), 32);
	assert_int_equal(tree_leaves((struct sl_tuning){1024, 16, SL_PADDING_OFF}), 16384);
}
