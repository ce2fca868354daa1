/*
 * global_sort_gpu.c - sorts over all GPUs of the machine, and over several shares of one GPU; and the exchange between two
 * GPUs by copies, with any number of keys.
 *
 * The test is skipped without a device.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/device/global_sort_check.h"

enum { ONE_IN = 41 };

static int n_devices;

#ifdef SL_WITH_CUDA
TEST(ranks_of_values)
{
	global_sort_check_search(&sl_run_kernels);
}
#endif

TEST(every_size)
{
	const struct sl_backend *sort;

	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_sizes(sort, n_devices, sl_sampling_size((1 << 24) + 5), ONE_IN);
}

TEST(every_size_on_one_device)
{
	const struct sl_backend *sort;

	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_sizes(sort, 1, sl_sampling_size((1 << 20) + 3), ONE_IN);
}

TEST(exchange_by_copies)
{
	const struct sl_backend *sort;

	if (n_devices < 2)
		skip_test("the exchange needs two devices and the machine has one");
	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_exchange(sort, sl_sampling_size((1 << 24) + 5), ONE_IN);
}

BEFORE_TESTS()
{
	skip_without_device();
	assert_ok(sl_device_count(&n_devices));
}
