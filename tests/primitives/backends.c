/*
 * backends.c - compares every backend of the host and of the emulated device with the specification, by random jobs; and
 * checks the catalog of backends. A build with a sanitizer then checks the kernels from inside.
 */
#include <limits.h>
#include <malloc.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/jobs.h"
#include "tests/support/basic/check.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

TEST(every_backend_of_the_host_is_right)
{
	assert_ok(sl_jobs_run(&(struct sl_jobs){.space = SL_HOST,
		.small = 700,
		.medium = 700,
		.large = 14,
		.largest = UINT32_MAX}));
}

/* Threads in order, or at random; several blocks in flight, some started from the last; the oldest device. */
static void draw_schedule(uint64_t number)
{
	const uint64_t r = sl_mixed(number);
	struct sl_emulator_settings s = {.blocks = 1, .memory_bytes = 1 << 30};

	if (r % 2) {
		s.blocks = r / 2 % 4 ? 1 + (uint32_t)(r >> 8) % 8 : SL_EMULATED_BLOCKS_MAX;
		s.seed = r >> 16 & 1 ? r >> 32 : 0;
		s.from_last = r >> 17 & 1;
		s.at_once = r >> 18 & 1;
		s.turing = (r >> 19) % 8 == 0;
	}
	sl_emulator_set_settings(&s);
}

/* A switch between threads costs about 40 ns, 100 ns under AddressSanitizer and 2 us under valgrind. */
TEST(every_emulated_backend_is_right)
{
	sl_device_emulate(true);
	sl_sampling_one_in(RUNNING_ON_VALGRIND ? 7 : 1);
	assert_ok(sl_jobs_run(&(struct sl_jobs){.space = SL_DEVICE,
		.small = 70,
		.medium = 14,
		.largest = 10000,
		.before = draw_schedule}));
}

TEST(every_backend_has_one_primitive_and_is_found)
{
	const struct sl_backend *b, *found;
	size_t i;

	for (i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		assert_int_equal(b->scan != NULL, b->primitive == SL_SCAN);
		assert_int_equal(b->compact != NULL, b->primitive == SL_COMPACT);
		assert_int_equal(b->sort != NULL, b->primitive == SL_SORT);
		assert_int_equal(b->deflate != NULL, b->primitive == SL_DEFLATE);
		assert_non_null(b->scratch);
		assert_true(strlen(b->help) > 0);
		assert_ok(sl_find(b->primitive, b->name, &found));
		assert_ptr_equal(found, b);
	}
	assert_true(i >= 4);
	assert_null(sl_backend_at(i));
}

BEFORE_TESTS()
{
	/* Large blocks are used again and not given back to the system: page faults took half the time. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}
