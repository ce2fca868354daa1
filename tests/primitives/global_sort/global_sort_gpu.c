/*
 * global_sort_gpu.c - sorts over all GPUs of the machine, and over several shares of one GPU.
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
static void ranks_of_values(void **state)
{
	(void)state;
	global_sort_check_search(&sl_run_kernels);
}
#endif

static void every_size(void **state)
{
	const struct sl_backend *sort;

	(void)state;
	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_sizes(sort, n_devices, sl_sampling_size((1 << 24) + 5), ONE_IN);
}

static void every_size_on_one_device(void **state)
{
	const struct sl_backend *sort;

	(void)state;
	assert_ok(sl_find(SL_SORT, "shared", &sort));
	global_sort_check_sizes(sort, 1, sl_sampling_size((1 << 20) + 3), ONE_IN);
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {
#ifdef SL_WITH_CUDA
		cmocka_unit_test(ranks_of_values),
#endif
		cmocka_unit_test(every_size),
		cmocka_unit_test(every_size_on_one_device),
	};

	if (skips_without_device())
		return SKIPPED;
	if (!sl_sampling_from_environment() || sl_device_count(&n_devices) != SL_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
