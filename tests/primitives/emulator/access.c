/*
 * access.c - tests that the emulated device counts memory accesses as they are known for small
 * kernels and for backends whose counts follow from their definition.
 */
#include "primitives/emulator/access.h"

#include <stdio.h>

#include "tests/cases/case.h"
#include "tests/primitives/emulator/emulator_kernels.h"
#include "tests/support/basic/check.h"

/* The counts of one launch; the words are 0 before. */
static struct sl_access_counts count(const char *name, uint32_t blocks, uint32_t stride)
{
	struct sl_access_counts c;
	void *p;

	assert_ok(sl_memory_get(SL_DEVICE, ACCESS_WORDS * sizeof(uint32_t), &p));
	assert_ok(sl_fill(p, 0, ACCESS_WORDS * sizeof(uint32_t), NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_access_start();
	assert_ok(launch_access_kernel(name, blocks, stride, (uint32_t *)p));
	assert_ok(sl_stream_wait(NULL));
	c = sl_access_stop();
	sl_memory_give(SL_DEVICE, p);
	return c;
}

/*
 * 64 threads a block, 32 a warp. A warp touches 4 sectors of 32 bytes for 32 words in a row, 8 with
 * stride 2, 32 with stride 8. Words `stride` apart in shared memory: gcd(stride, 32) words share a
 * bank, so that many passes are needed; one word is broadcast. The i-th iteration of a loop is one
 * instruction for the lanes that are still in it.
 */
TEST(accesses_are_counted)
{
	static const struct {
		const char *kernel;
		uint32_t blocks, stride, loads, stores, sectors, shared, passes, barriers, atomics;
	} rows[] = {
		{"strided", 2, 1, 128, 128, 4 * (4 + 4), 0, 0, 0, 0},
		{"strided", 2, 2, 128, 128, 4 * (8 + 8), 0, 0, 0, 0},
		{"strided", 2, 8, 128, 128, 4 * (32 + 32), 0, 0, 0, 0},
		{"strided", 2, 32, 128, 128, 4 * (32 + 32), 0, 0, 0, 0},
		{"strided", 2, 0, 128, 128, 4 * (1 + 1), 0, 0, 0, 0},
		{"wide", 1, 1, 64, 64, 2 * (16 + 16), 0, 0, 0, 0}, /* 16 bytes per thread */
		{"wide", 1, 2, 64, 64, 2 * (32 + 32), 0, 0, 0, 0},
		{"banks", 1, 0, 0, 64, 2 * 4, 128, 1, 1, 0},
		{"banks", 1, 1, 0, 64, 2 * 4, 128, 1, 1, 0},
		{"banks", 1, 2, 0, 64, 2 * 4, 128, 2, 1, 0},
		{"banks", 1, 4, 0, 64, 2 * 4, 128, 4, 1, 0},
		{"banks", 1, 8, 0, 64, 2 * 4, 128, 8, 1, 0},
		{"banks", 1, 16, 0, 64, 2 * 4, 128, 16, 1, 0},
		{"banks", 1, 31, 0, 64, 2 * 4, 128, 1, 1, 0},
		{"banks", 1, 33, 0, 64, 2 * 4, 128, 1, 1, 0},
		{"divergent", 1, 4, 2 * 8 * (1 + 2 + 3), 64, 2 * 3 + 2 * 4, 0, 0, 0, 0},
		{"atomics", 2, 8, 128, 128, 4 * (4 + 4), 0, 0, 0, 2 * 128},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_access_counts c = count(rows[i].kernel, rows[i].blocks, rows[i].stride);

		if (c.launches != 1 || c.loads != rows[i].loads || c.stores != rows[i].stores ||
			c.sectors != rows[i].sectors || c.shared != rows[i].shared ||
			c.barriers != rows[i].barriers || c.atomics != rows[i].atomics ||
			c.conflicts != (rows[i].passes ? 2 * 2 * (rows[i].passes - 1) : 0))
			fail_msg(
				"%s, stride %u: %llu loads, %llu stores, %llu sectors, %llu conflicts",
				rows[i].kernel, rows[i].stride, (unsigned long long)c.loads,
				(unsigned long long)c.stores, (unsigned long long)c.sectors,
				(unsigned long long)c.conflicts);
	}
}

TEST(nothing_is_counted_before_the_start)
{
	struct sl_access_counts c;

	(void)count("strided", 1, 1);
	assert_int_equal(sl_access_stop().loads, 64);
	sl_access_start();
	c = sl_access_stop();
	assert_int_equal(c.loads + c.stores + c.sectors, 0);
}

/* The counts of a scan in device memory. */
static struct sl_access_counts count_scan(
	const struct sl_backend *b, enum sl_type type, struct sl_tuning tuning, uint32_t n)
{
	struct sl_trial t = {.backend = b, .set = {.n = n, .type = type, .tuning = tuning}};
	struct sl_access_counts c;

	assert_ok(sl_case_scan.make(&t));
	assert_ok(sl_trial_load(&t, 0xa5));
	assert_ok(sl_stream_wait(NULL));
	sl_access_start();
	assert_ok(sl_case_scan.run(&t));
	assert_ok(sl_stream_wait(NULL));
	c = sl_access_stop();
	sl_trial_free(&t);
	return c;
}

/*
 * Hillis-Steele: pass k of 12 loads item i and item i - 2^k, if that exists, and stores item i. The
 * first pass of an exclusive scan loads items i - 1 and i - 2 instead. The single-pass scan loads
 * and stores 16 bytes at a time, each item once, and one block has little to coordinate.
 */
TEST(scans_have_the_counts_of_their_algorithms)
{
	const struct sl_tuning own = {0};
	const uint64_t n = 1 << 12;
	struct sl_access_counts c = count_scan(&sl_scan_naive_emulated, SL_U32, own, (uint32_t)n);

	assert_int_equal(c.loads, (n - 1) + (n - 2) + 11 * 2 * n - (n - 2));
	assert_int_equal(c.stores, 12 * n);
	assert_int_equal(c.launches, 12);
	assert_int_equal(c.shared + c.barriers + c.atomics, 0);
	c = count_scan(&sl_scan_shared_emulated, SL_U32, own, (uint32_t)n);
	assert_in_range(c.loads, n / 4, n / 4 + 4);
	assert_in_range(c.stores, n / 4, n / 4 + 4);
	assert_in_range(c.sectors, n / 4, n / 4 + 4);
}

/* With padding, no two threads that are served together access one bank, at any level of a tree. */
TEST(padding_avoids_bank_conflicts)
{
	for (uint32_t block = 32; block <= 1024; block *= 2)
		for (int type = SL_U32; type <= SL_U64; type++)
			for (int k = SL_PADDING_ON; k <= SL_PADDING_OFF; k++) {
				const struct sl_tuning t = {block, 2, (enum sl_padding)k, 0};
				const struct sl_access_counts c = count_scan(
					&sl_scan_tiled_emulated, (enum sl_type)type, t, 2 * block);

				if ((c.conflicts == 0) != (k == SL_PADDING_ON))
					fail_msg("%u threads, type %d, padding %d: %llu conflicts",
						block, type, k, (unsigned long long)c.conflicts);
			}
}

BEFORE_TESTS()
{
	if (!sl_access_is_counted())
		skip_file("only gcc without sanitizers counts memory accesses");
	sl_device_emulate(true);
}
