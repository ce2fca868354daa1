/*
 * emulator_right.c - tests that correct kernels give the same results on the emulated device as on
 * a real one, in any order of threads and blocks.
 */
#include "tests/primitives/emulator/emulator_check.h"

/* Orders of threads and blocks; sanitizer builds must find no error in any of them. */
static const struct sl_emulator_settings schedules[] = {
	{.blocks = 1, .memory_bytes = 1 << 30},
	{.blocks = 4, .memory_bytes = 1 << 30},
	{.blocks = 1, .seed = 1, .memory_bytes = 1 << 30},
	{.blocks = 3, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
	{.blocks = SL_EMULATED_BLOCKS_MAX, .seed = 3, .at_once = true, .memory_bytes = 1 << 30},
};

/* Later kernels run in the k-th order; returns false if there is none. */
static bool choose(int k)
{
	if (k == sizeof(schedules) / sizeof(schedules[0]))
		return false;
	sl_emulator_set_settings(&schedules[k]);
	return true;
}

TEST(barriers_synchronize)
{
	static uint32_t words[KERNEL_WORDS];

	for (int k = 0; choose(k); k++) {
		run_kernel("ended_clean", words);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(words[i], i % 3 == 0 ? 0 : 21);
		run_kernel("votes_clean", words);
		for (uint32_t i = 0; i < 33; i++)
			assert_int_equal(words[i], 1 | 1 << 2);
		run_kernel("barrier_clean", words);
		for (uint32_t i = 0; i < 3 * 64; i++)
			assert_int_equal(words[i], 2);
		run_kernel("syncwarp_clean", words);
		for (uint32_t i = 0; i < 32; i++)
			assert_int_equal(words[32 + i], i ^ 1);
	}
}

/* A shuffled word is the number of the lane that it came from. */
static uint32_t part_of_warp(uint32_t lane)
{
	uint32_t sum = lane < 16 ? 0xaaaa + (lane < 15 ? 3 : 1) : 3 * (lane ^ 1);

	for (uint32_t i = 0; i < lane / 4; i++)
		sum += lane / 4 * 4 + i % 4;
	return sum + 1000;
}

TEST(warps_diverge_and_converge)
{
	static uint32_t words[KERNEL_WORDS];

	for (int k = 0; choose(k); k++) {
		run_kernel("parts_of_warps_clean", words);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(words[i], part_of_warp(i % 32));
	}
}

TEST(shuffles_read_the_chosen_lane)
{
	static uint32_t words[KERNEL_WORDS];

	run_kernel("shuffles_clean", words);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(words[i], 1 + (i < 2 ? i : i - 2) +
						   3 * (1 + (i < 27 ? i + 5 : i)) +
						   9 * (1 + (i ^ 16)));
	assert_int_equal(words[32], 0xa5a5a5a5);
	for (uint32_t i = 33; i < 36; i++)
		assert_int_equal(words[i], 7);
}

TEST(atomic_sums_are_exact)
{
	static uint32_t words[KERNEL_WORDS];

	for (int k = 0; choose(k); k++) {
		run_kernel("atomics_clean", words);
		assert_int_equal(words[0], 9 * 64);
		assert_int_equal(words[1], 0xffffffff);
		assert_int_equal(words[2], 0);
		assert_int_equal(words[3], 63);
	}
}

/* Five rounds of four words, of which each thread adds up the first and the last. */
TEST(mbarriers_complete_each_phase)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	for (int k = 0; choose(k); k++) {
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		assert_ok(launch_kernel("numbers_clean", at, NULL));
		assert_ok(launch_kernel("gates_clean", at, NULL));
		fetch(words, at);
		for (uint32_t i = 0; i < 3 * 64; i++)
			assert_int_equal(
				words[i], i % 64 == 0 ? 0 : 2 * (0 + 4 + 8 + 12 + 16) + 5 * 3);
	}
	sl_memory_give(SL_DEVICE, at);
}

TEST(blocks_pass_words_to_later_blocks)
{
	static uint32_t words[KERNEL_WORDS];

	for (int k = 0; choose(k); k++) {
		run_kernel("tickets_clean", words);
		for (uint32_t i = 0; i < 20 * 32; i++)
			assert_int_equal(words[100 + i], i / 32 * (i / 32 + 1) / 2);
		if (schedules[k].from_last) /* the order depends on the block index */
			continue;
		run_kernel("message_clean", words);
		for (uint32_t i = 0; i < 9; i++)
			assert_int_equal(words[i], i + 1);
	}
}

/* A kernel reads everything that the previous kernel of the stream wrote. */
TEST(kernels_of_a_stream_run_in_order)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	for (int k = 0; choose(k); k++) {
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		for (int i = 0; i < 6; i++)
			assert_ok(launch_kernel(i % 2 ? "back_clean" : "reversed_clean", at, NULL));
		fetch(words, at);
		for (uint32_t i = 0; i < 256; i++)
			assert_int_equal(words[i], 3);
	}
	sl_memory_give(SL_DEVICE, at);
}

TEST(new_shared_memory_holds_a5)
{
	static uint32_t words[KERNEL_WORDS];
	void *at;

	for (int k = 0; choose(k); k++) {
		run_kernel("shared_at_first", words);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(words[i], 0xa5a5a5a5);
	}
	for (int k = 0; k < 2; k++) {
		assert_ok(sl_memory_get(SL_DEVICE, WORDS_BYTES, &at));
		fetch(words, (const uint32_t *)at);
		for (uint32_t i = 0; i < KERNEL_WORDS; i++)
			assert_int_equal(words[i], 0xa5a5a5a5);
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		sl_memory_give(SL_DEVICE, at);
	}
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}

AFTER_EACH()
{
	as_by_default();
}
