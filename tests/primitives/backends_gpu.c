/*
 * backends_gpu.c - compares every device backend with the specification, and tests the device
 * layer.
 *
 * The test is skipped without a device.
 */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "tests/cases/sweep.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

TEST(every_device_backend_is_right)
{
	uint64_t trials;

	assert_ok(sl_sweep_space(SL_DEVICE, &trials));
	printf("%llu trials\n", (unsigned long long)trials);
}

TEST(every_tuning_is_right)
{
	uint64_t trials = 0;

	assert_ok(sl_sweep_tunings(SL_SCAN, &trials));
	assert_ok(sl_sweep_tunings(SL_COMPACT, &trials));
	assert_ok(sl_sweep_tunings(SL_SORT, &trials));
	assert_true(trials > 0);
	printf("%llu trials\n", (unsigned long long)trials);
}

TEST(too_large_block_is_refused)
{
	struct sl_exec x = {.space = SL_DEVICE, .tuning = {.block = 4096}};
	struct sl_scan_job job = {.n = 0};
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		if (b->space == SL_DEVICE && b->primitive == SL_SCAN && b->tunable.block > 0)
			assert_fails(
				sl_scan(b, &x, &job), SL_USAGE, "block=4096 threads, but it takes");
	}
}

TEST(devices_describe_themselves)
{
	struct sl_device device;
	int n;

	assert_ok(sl_device_count(&n));
	assert_fails(sl_device_use(n, &device), SL_NO_DEVICE, "choose one from 0");
	assert_int_equal(sl_device_use(-1, &device), SL_NO_DEVICE);
	assert_ok(sl_device_use(0, &device));
	assert_int_equal(device.number, 0);
	assert_true(strlen(device.name) > 0);
	assert_true(device.multiprocessors > 0);
	assert_true(device.free_bytes > 0 && device.free_bytes <= device.memory_bytes);
	printf("%s, %d.%d\n", device.name, device.major, device.minor);
}

TEST(message_of_lack_of_memory_has_sizes)
{
	void *p;

	assert_fails(sl_memory_get(SL_DEVICE, (size_t)1 << 50, &p), SL_DEVICE_MEMORY,
		"1125899906842624 bytes requested");
	assert_null(p);
	assert_null(strstr(sl_last_error(), ", 0 are free"));
}

/* From host to device to pinned and back, through a stream of our own; fills of every space. */
TEST(copies_and_fills_reach_every_space)
{
	enum { BYTES = 100003 };
	static unsigned char from[BYTES], to[BYTES];
	const enum sl_space spaces[] = {SL_HOST, SL_DEVICE, SL_PINNED};
	void *p[3];
	sl_stream s;

	for (int i = 0; i < BYTES; i++)
		from[i] = (unsigned char)sl_mixed((uint64_t)i);
	assert_ok(sl_stream_make(&s));
	for (int i = 0; i < 3; i++) {
		assert_ok(sl_memory_get(spaces[i], BYTES, &p[i]));
		assert_int_equal((uintptr_t)p[i] % SL_ALIGN, 0);
		assert_ok(sl_fill(p[i], 0x11 * (i + 1), BYTES, s));
		assert_ok(sl_copy(to, p[i], BYTES, s));
		assert_ok(sl_stream_wait(s));
		for (int k = 0; k < BYTES; k++)
			assert_int_equal(to[k], 0x11 * (i + 1));
	}
	assert_ok(sl_copy(p[0], from, BYTES, s));
	assert_ok(sl_copy(p[1], p[0], BYTES, s));
	assert_ok(sl_copy(p[2], p[1], BYTES, s));
	assert_ok(sl_copy(to, p[2], BYTES, s));
	assert_ok(sl_stream_wait(s));
	assert_memory_equal(to, from, BYTES);
	for (int i = 0; i < 3; i++)
		sl_memory_give(spaces[i], p[i]);
	sl_stream_free(s);
}

BEFORE_TESTS()
{
	skip_without_device();
	/*
	 * Larger sizes are large.c's. Blocks of this size are used again, not given back to the system: page faults
	 * took half the time.
	 */
	sl_sampling_set_largest((1 << 20) + 3);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}
