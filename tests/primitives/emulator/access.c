/*
 * access.c - tests that the emulated device counts memory accesses as they are known for small kernels
 * and for backends whose counts follow from their definition.
 */
#include "primitives/emulator/access.h"

#include <stdio.h>

#include "primitives/primitives.h"
#include "tests/primitives/emulator/access_kernels.h"
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

static void expect_device_memory(
	struct sl_access_counts c, uint64_t loads, uint64_t stores, uint64_t sectors)
{
	assert_int_equal(c.loads, loads);
	assert_int_equal(c.stores, stores);
	assert_int_equal(c.sectors, sectors);
}

/* A warp touches 4 sectors of 32 bytes for 32 words in a row, 8 with stride 2, 32 with stride 8. */
TEST(sectors_follow_from_the_stride)
{
	struct sl_access_counts c = count("strided", 2, 1);

	expect_device_memory(c, 128, 128, 4 * (4 + 4));
	assert_int_equal(c.launches, 1);
	assert_int_equal(c.barriers + c.shared + c.atomics + c.conflicts, 0);
	expect_device_memory(count("strided", 2, 2), 128, 128, 4 * (8 + 8));
	expect_device_memory(count("strided", 2, 8), 128, 128, 4 * (32 + 32));
	expect_device_memory(count("strided", 2, 32), 128, 128, 4 * (32 + 32));
	/* all threads at the same word */
	expect_device_memory(count("strided", 2, 0), 128, 128, 4 * (1 + 1));
	/* 16 bytes per thread: 512 bytes per warp */
	expect_device_memory(count("wide", 1, 1), 64, 64, 2 * (16 + 16));
	expect_device_memory(count("wide", 1, 2), 64, 64, 2 * (32 + 32));
}

/* Words `stride` apart: gcd(stride, 32) words share a bank, so that many passes are needed. */
TEST(bank_conflicts_follow_from_the_stride)
{
	static const uint32_t stride[] = {1, 2, 4, 8, 16, 31, 33};
	static const uint32_t passes[] = {1, 2, 4, 8, 16, 1, 1};

	for (size_t i = 0; i < sizeof(stride) / sizeof(stride[0]); i++) {
		struct sl_access_counts c = count("banks", 1, stride[i]);

		assert_int_equal(c.shared, 2 * 64);
		assert_int_equal(c.conflicts, 2 * 2 * (passes[i] - 1));
		assert_int_equal(c.barriers, 1);
		expect_device_memory(c, 0, 64, 2 * 4);
	}
	/* one word is broadcast to all lanes */
	assert_int_equal(count("banks", 1, 0).conflicts, 0);
}

/* The i-th iteration of a loop is one instruction of the warp for the lanes that are still in it. */
TEST(iterations_are_instructions)
{
	struct sl_access_counts c = count("divergent", 1, 4);

	/* per warp of 32: lanes with 1, 2 and 3 iterations, 8 each; one sector per iteration */
	expect_device_memory(c, 2 * 8 * (1 + 2 + 3), 64, 2 * 3 + 2 * 4);
}

TEST(atomics_are_counted)
{
	struct sl_access_counts c = count("atomics", 2, 8);

	assert_int_equal(c.atomics, 2 * 128);
	expect_device_memory(c, 128, 128, 4 * (4 + 4));
	assert_int_equal(c.conflicts, 0);
}

TEST(nothing_is_counted_before_the_start)
{
	struct sl_access_counts c;

	(void)count("strided", 1, 1);
	c = sl_access_stop();
	expect_device_memory(c, 64, 64, 2 * (4 + 4));
	sl_access_start();
	c = sl_access_stop();
	expect_device_memory(c, 0, 0, 0);
}

/* Scans n items by a backend, in device memory. */
static struct sl_access_counts count_scan(const char *backend, uint32_t n)
{
	const struct sl_backend *scan;
	const struct sl_shape shape = {.n = n, .type = SL_U32};
	struct sl_exec x = {.space = SL_DEVICE};
	struct sl_scan_job job = {.type = SL_U32, .n = n};
	struct sl_access_counts c;
	void *in, *out;

	assert_ok(sl_find(SL_SCAN, backend, &scan));
	x.scratch.size = sl_scratch(scan, &shape);
	assert_ok(sl_memory_get(SL_DEVICE, x.scratch.size, &x.scratch.base));
	assert_ok(sl_memory_get(SL_DEVICE, n * sizeof(uint32_t), &in));
	assert_ok(sl_memory_get(SL_DEVICE, n * sizeof(uint32_t), &out));
	assert_ok(sl_fill(in, 0, n * sizeof(uint32_t), NULL));
	assert_ok(sl_stream_wait(NULL));
	job.in = in;
	job.out = out;
	sl_access_start();
	assert_ok(sl_scan(scan, &x, &job));
	assert_ok(sl_stream_wait(NULL));
	c = sl_access_stop();
	sl_memory_give(SL_DEVICE, x.scratch.base);
	sl_memory_give(SL_DEVICE, in);
	sl_memory_give(SL_DEVICE, out);
	return c;
}

/*
 * Hillis-Steele: pass k of 12 loads item i and item i - 2^k, if that exists, and stores item i. The first
 * pass of an exclusive scan loads items i - 1 and i - 2 instead. The single-pass scan loads and stores
 * 16 bytes at a time, each item once, and one block has little to coordinate.
 */
TEST(scans_have_the_counts_of_their_algorithms)
{
	const uint64_t n = 1 << 12;
	struct sl_access_counts c = count_scan("naive", (uint32_t)n);

	assert_int_equal(c.loads, (n - 1) + (n - 2) + 11 * 2 * n - (n - 2));
	assert_int_equal(c.stores, 12 * n);
	assert_int_equal(c.launches, 12);
	assert_int_equal(c.shared + c.barriers + c.atomics, 0);
	c = count_scan("shared", (uint32_t)n);
	assert_in_range(c.loads, n / 4, n / 4 + 4);
	assert_in_range(c.stores, n / 4, n / 4 + 4);
	assert_in_range(c.sectors, n / 4, n / 4 + 4);
}

BEFORE_TESTS()
{
	if (!sl_access_is_counted())
		skip_file("only gcc without sanitizers counts memory accesses");
	sl_device_emulate(true);
}
