/* tunings_emulated.c - runs every tuning of every kernel on the emulated device at a small size. */
#include <stdio.h>

#include "tests/cases/sweep.h"
#include "tests/support/basic/check.h"

enum { LARGEST = 257 };

static void every_tuning_is_right(enum sl_primitive p)
{
	uint64_t trials = 0;

	assert_ok(sl_sweep_tunings(p, &trials));
	assert_true(trials > 0);
	printf("%llu trials\n", (unsigned long long)trials);
}

TEST(every_tuning_of_scan)
{
	every_tuning_is_right(SL_SCAN);
}

TEST(every_tuning_of_compact)
{
	every_tuning_is_right(SL_COMPACT);
}

TEST(every_tuning_of_sort)
{
	every_tuning_is_right(SL_SORT);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
	sl_sampling_set_largest(LARGEST);
}
