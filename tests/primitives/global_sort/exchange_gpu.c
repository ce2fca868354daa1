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

TEST(exchange_by_copies)
{
	const struct sl_backend *sort;
	int n_devices;

	assert_ok(sl_device_count(&n_devices));
	if (n_devices < 2)
		skip_test("the exchange needs two devices and the machine has one");
	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_exchange(sort, sl_sampling_size((1 << 24) + 5), ONE_IN);
}

BEFORE_TESTS()
{
	skip_without_device();
}
