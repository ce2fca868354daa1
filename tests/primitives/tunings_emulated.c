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

static void every_tuning_of_scan(void **state)
{
	(void)state;
	every_tuning_is_right(SL_SCAN);
}

static void every_tuning_of_compact(void **state)
{
	(void)state;
	every_tuning_is_right(SL_COMPACT);
}

static void every_tuning_of_sort(void **state)
{
	(void)state;
	every_tuning_is_right(SL_SORT);
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tuning_of_scan),
		cmocka_unit_test(every_tuning_of_compact),
		cmocka_unit_test(every_tuning_of_sort),
	};

	if (!sl_sampling_from_environment())
		return 1;
	sl_device_emulate(true);
	sl_sampling_set_largest(LARGEST);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
