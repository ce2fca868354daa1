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

static void every_device_backend_is_right(void **state)
{
	uint64_t trials;

	(void)state;
	assert_ok(sl_sweep_space(SL_DEVICE, &trials));
	printf("%llu trials\n", (unsigned long long)trials);
}

static void every_tuning_is_right(void **state)
{
	uint64_t trials = 0;

	(void)state;
	assert_ok(sl_sweep_tunings(SL_SCAN, &trials));
	assert_ok(sl_sweep_tunings(SL_COMPACT, &trials));
	assert_ok(sl_sweep_tunings(SL_SORT, &trials));
	assert_true(trials > 0);
	printf("%llu trials\n", (unsigned long long)trials);
}

static void too_large_block_is_refused(void **state)
{
	struct sl_exec x = {.space = SL_DEVICE, .tuning = {.block = 4096}};
	struct sl_scan_job job = {.n = 0};
	const struct sl_backend *b;

	(void)state;
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		if (b->space == SL_DEVICE && b->primitive == SL_SCAN && b->tunable.block > 0)
			assert_fails(
				sl_scan(b, &x, &job), SL_USAGE, "block=4096 threads, but it takes");
	}
}

static void devices_describe_themselves(void **state)
{
	struct sl_device device;
	int n;

	(void)state;
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

static void message_of_lack_of_memory_has_sizes(void **state)
{
	void *p;

	(void)state;
	assert_fails(sl_memory_get(SL_DEVICE, (size_t)1 << 50, &p), SL_DEVICE_MEMORY,
		"1125899906842624 bytes requested");
	assert_null(p);
	assert_null(strstr(sl_last_error(), ", 0 are free"));
}

/* From host to device to pinned and back, through a stream of our own; fills of every space. */
static void copies_and_fills_reach_every_space(void **state)
{
	enum { BYTES = 100003 };
	static unsigned char from[BYTES], to[BYTES];
	const enum sl_space spaces[] = {SL_HOST, SL_DEVICE, SL_PINNED};
	void *p[3];
	sl_stream s;

	(void)state;
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

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_describe_themselves),
		cmocka_unit_test(message_of_lack_of_memory_has_sizes),
		cmocka_unit_test(copies_and_fills_reach_every_space),
		cmocka_unit_test(too_large_block_is_refused),
		cmocka_unit_test(every_device_backend_is_right),
		cmocka_unit_test(every_tuning_is_right),
	};

	if (!sl_sampling_from_environment())
		return 1;
	if (skips_without_device())
		return SKIPPED;
	/* Larger sizes are large.c's. Blocks of this size are used again, not given back to the
	 * system: page faults took half the time. */
	sl_sampling_set_largest((1 << 20) + 3);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
