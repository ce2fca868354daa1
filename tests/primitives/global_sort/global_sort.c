/* global_sort.c - tests sorts over several emulated devices, and the messages of wrong calls. */
#include "primitives/global_sort/global_sort.h"

#include "primitives/emulator/settings.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/global_sort_check.h"

enum { LARGEST = 5000, ONE_IN = 97, DEVICES = 3 };

static const struct sl_emulator_settings in_order = {.blocks = 1, .memory_bytes = 1 << 30};

TEST(ranks_of_values)
{
	sl_emulator_set_settings(&in_order);
	global_sort_check_search(&sl_run_kernels_emulated);
}

TEST(every_size)
{
	sl_emulator_set_settings(&in_order);
	global_sort_check_sizes(&sl_sort_shared_emulated, DEVICES, LARGEST, ONE_IN);
}

/* Several blocks in flight, in random order. */
TEST(any_order)
{
	struct sl_emulator_settings s = {
		.blocks = 4, .seed = 7, .from_last = true, .memory_bytes = 1 << 30};

	sl_emulator_set_settings(&s);
	global_sort_check_sizes(&sl_sort_work_efficient_emulated, DEVICES, LARGEST, 5 * ONE_IN);
	sl_emulator_set_settings(&in_order);
}

/* Devices that cannot read each other's memory copy first. */
TEST(without_peer_access)
{
	struct sl_emulator_settings s = in_order;

	s.no_peers = true;
	sl_emulator_set_settings(&s);
	global_sort_check_sizes(&sl_sort_naive_emulated, 5, LARGEST, 3 * ONE_IN);
	sl_emulator_set_settings(&in_order);
}

TEST(as_many_shares_as_devices)
{
	struct global_sort_try t = {.n_shares = SL_DEVICES_MAX,
		.n_devices = SL_DEVICES_MAX,
		.input = SL_INPUT_FEW,
		.type = SL_U32,
		.end_bit = 32};

	for (uint32_t i = 0; i < t.n_shares; i++)
		t.n[i] = 100 + i;
	global_sort_check(&sl_sort_shared_emulated, &t);
	t.input = SL_INPUT_RANDOM;
	t.type = SL_U64;
	t.end_bit = 64;
	global_sort_check(&sl_sort_shared_emulated, &t);
}

/* --- wrong calls ------------------------------------------------------------------------------ */

enum { N = 8 };

static _Alignas(256) char memory[2][6 * SL_ALIGN]; /* never read: each call is refused before */

/* Two shares of N keys with valid pointers. */
static void make_shares(const struct sl_device *device, struct sl_global_share share[2])
{
	for (int i = 0; i < 2; i++) {
		share[i] = (struct sl_global_share){.device = device, .n = N};
		share[i].key = memory[i];
		share[i].key_out = memory[i] + SL_ALIGN;
		share[i].index = (uint32_t *)(void *)(memory[i] + 2 * SL_ALIGN);
		share[i].index_out = (uint32_t *)(void *)(memory[i] + 3 * SL_ALIGN);
		share[i].scratch = (struct sl_arena){.base = memory[i] + 4 * SL_ALIGN, .size = 64};
	}
}

TEST(wrong_calls_are_refused)
{
	struct sl_global_sort sort = {{.backend = &sl_sort_shared_emulated}, SL_U32, 0, 32};
	struct sl_global_share share[2];
	struct sl_device device;

	assert_ok(sl_device_use(0, &device));
	make_shares(&device, share);
	assert_fails(sl_global_sort(&sort, share, 0), SL_USAGE, "0 shares; use 1 to 32");
	assert_fails(sl_global_sort(&sort, NULL, 2), SL_USAGE, "2 shares at a null pointer");
	assert_fails(sl_global_sort(&sort, share, 33), SL_USAGE, "33 shares");
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE,
		"share 0: sort/shared: scratch has 64 bytes left");
	assert_fails(sl_global_sort(NULL, share, 2), SL_USAGE, "the sort is a null pointer");
	share[1].device = NULL;
	share[0].scratch.size = SIZE_MAX;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "share 1 has no device");
	make_shares(&device, share);
	share[0].scratch.size = sl_global_sort_scratch(&sort, N, 2 * N, 2, false) + 4;
	share[0].scratch.used = 4;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "scratch has");
	share[0].scratch =
		(struct sl_arena){.base = memory[0] + 5 * SL_ALIGN - 4, .size = SIZE_MAX};
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "is not aligned to 256 bytes");
	make_shares(&device, share);
	share[1].index = share[1].index_out = NULL;
	share[0].scratch.size = SIZE_MAX;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "share 1 has index = (nil)");
	make_shares(&device, share);
	share[0].index_out = NULL;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "index_out = (nil)");
	make_shares(&device, share);
	share[0].key_out = (char *)share[0].key + 4;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "key_out and key overlap");
	make_shares(&device, share);
	share[0].key = NULL;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "key is a null pointer");
	make_shares(&device, share);
	sort.end_bit = 33;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "bits 0 to 33 are out of range");
	sort.end_bit = 32;
	sort.sort.backend = &sl_sort_cpu;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "works on host memory");
	sort.sort.backend = &sl_scan_naive_emulated;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "implements scan, not sort");
	sort.sort.backend = NULL;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "the backend is a null pointer");
}

/* The scratch of one share, or its result, in memory of the other. */
TEST(overlapping_shares_are_refused)
{
	struct sl_global_sort sort = {{.backend = &sl_sort_shared_emulated}, SL_U32, 0, 32};
	struct sl_global_share share[2];
	struct sl_device device;
	size_t bytes;
	void *base;

	assert_ok(sl_device_use(0, &device));
	make_shares(&device, share);
	bytes = sl_global_sort_scratch(&sort, N, 2 * N, 2, false);
	assert_ok(sl_memory_get(SL_DEVICE, bytes, &base));
	share[0].scratch = share[1].scratch = (struct sl_arena){.base = base, .size = bytes};
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE,
		"shares 0 and 1: sort/shared: scratch and scratch overlap");
	share[1].key_out = share[0].key;
	assert_fails(sl_global_sort(&sort, share, 2), SL_USAGE, "key_out and key overlap");
	sl_memory_give(SL_DEVICE, base);
}

TEST(the_largest_shares_are_checked)
{
	struct sl_global_sort sort = {{.backend = &sl_sort_shared_emulated}, SL_U32, 0, 32};
	struct sl_global_share share[3];
	struct sl_device device;

	assert_ok(sl_device_use(0, &device));
	make_shares(&device, share);
	share[0].n = UINT32_MAX;
	assert_fails(sl_global_sort(&sort, share, 1), SL_USAGE, "overlap");
	share[2] = share[1];
	share[0].n = share[1].n = share[2].n = UINT32_MAX;
	assert_fails(sl_global_sort(&sort, share, 3), SL_USAGE, "overlap");
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
