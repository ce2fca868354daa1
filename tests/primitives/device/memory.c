/*
 * memory.c - tests memory, copies, fills and faults of the device layer, on the emulated device and
 * again on CUDA's where there is one.
 */
#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "tests/cases/inputs.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"

static const enum sl_space spaces[] = {SL_HOST, SL_DEVICE, SL_PINNED};

/* A size that has saturated is refused by the allocation. */
TEST(impossible_sizes_are_refused)
{
	void *p = &p;

	assert_fails(sl_memory_get(SL_HOST, SIZE_MAX, &p), SL_HOST_MEMORY,
		"host memory: 18446744073709551615 bytes requested, ");
	assert_null(p);
	assert_fails(sl_memory_get(SL_DEVICE, (size_t)1 << 50, &p), SL_DEVICE_MEMORY,
		"1125899906842624 bytes requested");
	assert_null(strstr(sl_last_error(), ", 0 are free"));
	assert_fails(sl_memory_get((enum sl_space)9, 1, &p), SL_USAGE, "memory of space 9");
}

/* From host to device to pinned and back, through a stream of our own; fills of every space. */
TEST(copies_and_fills_reach_every_space)
{
	static const size_t sizes[] = {0, 1, 255, 256, 257, 100003};
	static unsigned char from[100003], to[100003];
	sl_stream s;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (unsigned char)sl_mixed(i);
	assert_ok(sl_stream_make(&s));
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		const size_t bytes = sizes[k];
		void *p[3];

		for (int i = 0; i < 3; i++) {
			assert_ok(sl_memory_get(spaces[i], bytes, &p[i]));
			assert_true(p[i] && (uintptr_t)p[i] % SL_ALIGN == 0);
			assert_ok(sl_fill(p[i], 0x11 * (i + 1), bytes, s));
			assert_ok(sl_copy(to, p[i], bytes, s));
			assert_ok(sl_stream_wait(s));
			for (size_t b = 0; b < bytes; b++)
				assert_int_equal(to[b], 0x11 * (i + 1));
		}
		assert_ok(sl_copy(p[0], from, bytes, s));
		assert_ok(sl_copy(p[1], p[0], bytes, s));
		assert_ok(sl_copy(p[2], p[1], bytes, s));
		assert_ok(sl_copy(to, p[2], bytes, s));
		assert_ok(sl_stream_wait(s));
		assert_memory_equal(to, from, bytes);
		for (int i = 0; i < 3; i++)
			sl_memory_give(spaces[i], p[i]);
	}
	assert_ok(sl_copy(NULL, NULL, 0, NULL));
	assert_ok(sl_fill(NULL, 0, 0, NULL));
	sl_memory_give(SL_HOST, NULL);
	sl_stream_free(s);
	sl_stream_free(NULL);
}

/* From 64 MiB on, pinned memory of CUDA is made of huge pages (device_driver.h). */
TEST(large_pinned_memory_keeps_its_bytes)
{
	const size_t large = (size_t)1 << 26;

	for (size_t bytes = large - 1; bytes <= large + 1; bytes++) {
		unsigned char *from, *to;
		void *device;

		assert_ok(sl_memory_get(SL_PINNED, bytes, (void **)&from));
		assert_ok(sl_memory_get(SL_PINNED, bytes, (void **)&to));
		assert_ok(sl_memory_get(SL_DEVICE, bytes, &device));
		for (size_t i = 0; i < bytes; i++)
			from[i] = (unsigned char)(i * 0x9e3779b9 >> 24);
		assert_ok(sl_copy(device, from, bytes, NULL));
		assert_ok(sl_copy(to, device, bytes, NULL));
		assert_ok(sl_stream_wait(NULL));
		assert_memory_equal(to, from, bytes);
		sl_memory_give(SL_PINNED, from);
		assert_int_equal(to[bytes - 1], (bytes - 1) * 0x9e3779b9 >> 24 & 0xff);
		sl_memory_give(SL_PINNED, to);
		sl_memory_give(SL_DEVICE, device);
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

/* Each call that needs a device is refused with the same reason, on a machine that has none. */
TEST(without_a_device_calls_are_refused)
{
	struct sl_device device;
	sl_stream s;
	void *p;
	int n;
	const bool emulated = sl_device_is_emulated();

	sl_device_emulate(false);
	if (sl_device_count(&n) == SL_OK)
		return;
	assert_fails(sl_device_count(&n), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_device_use(0, &device), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_memory_get(SL_DEVICE, 1, &p), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_memory_get(SL_PINNED, 1, &p), SL_NO_DEVICE, "run on the CPU");
	assert_fails(sl_stream_make(&s), SL_NO_DEVICE, "run on the CPU");
#ifndef SL_WITH_CUDA
	assert_fails(sl_device_count(&n), SL_NO_DEVICE, "built without CUDA");
#endif
	sl_device_emulate(emulated);
}

EMULATED_AND_DEVICE_FILE()
