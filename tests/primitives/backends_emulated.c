/*
 * backends_emulated.c - runs every kernel on the emulated device with the cases that the GPU tests
 * use. A build with a sanitizer then checks the kernels from inside.
 */
#include <stdio.h>

#include "primitives/base/clock.h"
#include "primitives/emulator/settings.h"
#include "tests/cases/sweep.h"
#include "tests/support/basic/check.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/*
 * A switch between threads costs about 40 ns, 100 ns under AddressSanitizer, and 2 us under valgrind
 * and ThreadSanitizer. Therefore each size is tested with a share of the variants, each with another.
 */
#if defined(__SANITIZE_THREAD__)
enum { LARGEST = 1000 };
#else
enum { LARGEST = 10000 };
#endif

/* Sizes up to about a block: one variant in 3. */
enum { SMALL = 300 };

/* Sweeps all backends and prints the time of each, so that a slow one is noticed. */
static void sweep_each(
	enum sl_status (*sweep)(const struct sl_backend *b, uint64_t *trials), uint32_t one_in)
{
	const struct sl_backend *b;
	uint64_t all = 0;

	sl_sampling_one_in(RUNNING_ON_VALGRIND ? 7 * one_in : one_in);
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		uint64_t trials = 0, began = sl_now_ns();

		if (b->space != SL_DEVICE)
			continue;
		assert_ok(sweep(b, &trials));
		all += trials;
		printf("%s/%s: %llu trials, %.1f s\n", sl_primitive_name(b->primitive), b->name,
			(unsigned long long)trials, 1e-9 * (double)(sl_now_ns() - began));
	}
	assert_true(all > 0);
}

static enum sl_status sweep_default_tuning(const struct sl_backend *b, uint64_t *trials)
{
	return sl_sweep_backend(b, (struct sl_tuning){0}, trials);
}

TEST(every_backend_is_right)
{
	sl_sampling_set_largest(SMALL);
	sweep_each(sweep_default_tuning, 3);
	sl_sampling_set_largest(LARGEST);
	sweep_each(sweep_default_tuning, 17);
}

/* Threads in any order, several blocks in flight, blocks started from the last. */
TEST(every_schedule_gives_the_same)
{
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 1, .memory_bytes = 1 << 30},
		{.blocks = 2, .seed = 1, .memory_bytes = 1 << 30},
		{.blocks = 7, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = SL_EMULATED_BLOCKS_MAX, .memory_bytes = 1 << 30},
		{.blocks = SL_EMULATED_BLOCKS_MAX, .seed = 3, .memory_bytes = 1 << 30},
	};

	sl_sampling_set_largest(LARGEST);
	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		sl_emulator_set_settings(&schedules[i]);
		sweep_each(sl_sweep_tiles, 67);
	}
	sl_emulator_set_settings(&schedules[0]);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
