/*
 * memory.c - tests the part of the device layer that every build and machine has: host memory and
 * faults.
 */
#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"

TEST(host_memory_is_aligned_and_writable)
{
	const size_t sizes[] = {0, 1, 255, 256, 257, 100003};
	void *p;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_ok(sl_memory_get(SL_HOST, sizes[i], &p));
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % SL_ALIGN, 0);
		memset(p, 1, sizes[i]);
		sl_memory_give(SL_HOST, p);
	}
	sl_memory_give(SL_HOST, NULL);
}

/* A size that has saturated is refused by the allocation. */
TEST(impossible_sizes_are_refused)
{
	void *p = &p;

	assert_fails(sl_memory_get(SL_HOST, SIZE_MAX, &p), SL_HOST_MEMORY,
		"host memory: 18446744073709551615 bytes requested, ");
	assert_null(p);
	assert_fails(sl_memory_get((enum sl_space)9, 1, &p), SL_USAGE, "memory of space 9");
}

TEST(copies_and_fills)
{
	char a[5] = "abcd", b[5] = "";

	assert_ok(sl_copy(b, a, sizeof(a), NULL));
	assert_string_equal(b, "abcd");
	assert_ok(sl_fill(b, 'x', 2, NULL));
	assert_string_equal(b, "xxcd");
	assert_ok(sl_copy(NULL, NULL, 0, NULL));
	assert_ok(sl_fill(NULL, 0, 0, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_stream_free(NULL);
}

/* Either there is a device, or each call that needs one is refused with the same reason. */
TEST(calls_without_a_device_are_refused)
{
	struct sl_device device;
	sl_stream s;
	void *p;
	int n;

	if (sl_device_count(&n) == SL_OK) {
		assert_true(n > 0);
		return;
	}
	assert_int_equal(n, 0);
	assert_fails(sl_device_count(&n), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_device_use(0, &device), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_memory_get(SL_DEVICE, 1, &p), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_memory_get(SL_PINNED, 1, &p), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_stream_make(&s), SL_NO_DEVICE, "run on the CPU");
#ifndef SL_WITH_CUDA
	assert_fails(sl_device_count(&n), SL_NO_DEVICE, "built without CUDA");
#endif
}

/* Error 2 is cudaErrorMemoryAllocation. */
TEST(injected_faults_occur)
{
	char byte = 0, other = 1;
	void *p;
	int n;

	assert_null(sl_fault_set(
		"dev_copy:2:1,dev_fill:1:1,dev_sync:1:1,dev_count:1:100,dev_malloc:1:2,"
		"pinned_malloc:1:2,host_malloc:1:12"));
	assert_ok(sl_copy(&byte, &other, 1, NULL));
	assert_fails(sl_copy(&byte, &other, 1, NULL), SL_DEVICE_FAILED,
		"copying: the device returned error 1, ");
	assert_ok(sl_copy(&byte, &other, 1, NULL));
	assert_fails(sl_fill(&byte, 0, 1, NULL), SL_DEVICE_FAILED, "filling: ");
	assert_fails(sl_stream_wait(NULL), SL_DEVICE_FAILED, "waiting for queued work: ");
	assert_fails(sl_device_count(&n), SL_NO_DEVICE, "the CUDA driver sees no device");
	assert_fails(sl_memory_get(SL_DEVICE, 77, &p), SL_DEVICE_MEMORY,
		"device memory: 77 bytes requested, ");
	assert_fails(sl_memory_get(SL_PINNED, 78, &p), SL_HOST_MEMORY,
		"pinned host memory: 78 bytes requested, ");
	assert_fails(sl_memory_get(SL_HOST, 79, &p), SL_HOST_MEMORY,
		"host memory: 79 bytes requested, ");
	assert_null(p);
	sl_fault_set(NULL);
}
