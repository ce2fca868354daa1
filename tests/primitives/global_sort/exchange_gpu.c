/*
 * exchange_gpu.c - the exchange between two GPUs by copies, with any number of keys.
 *
 * The test is skipped without two devices.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/device/global_sort_check.h"

enum { ONE_IN = 41 };

static void exchange_by_copies(void **state)
{
	const struct sl_backend *sort;
	int n_devices;

	(void)state;
	assert_ok(sl_device_count(&n_devices));
	if (n_devices < 2)
		skip_test("the exchange needs two devices and the machine has one");
	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_exchange(sort, sl_sampling_size((1 << 24) + 5), ONE_IN);
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange_by_copies),
	};

	if (skips_without_device())
		return SKIPPED;
	if (!sl_sampling_from_environment())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
