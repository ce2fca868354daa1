/*
 * deflate_gpu.c - compares the device encoder, on a GPU, with the specification byte for byte.
 *
 *	SLUICE_DEFLATE_JOBS=1000   random jobs, of some hundred inputs each (deflate_check.h)
 *
 * Skips, and says why, where there is no device.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/basic/skip.h"

enum { LARGEST = 32 << 20, JOBS = 200, JOB_LARGEST = 400000 };

static const struct sl_backend *device(void)
{
	const struct sl_backend *b;

	assert_ok(sl_find(SL_DEFLATE, "device", &b));
	return b;
}

static void every_size_kind_and_cut(void **state)
{
	(void)state;
	deflate_sweep(device(), sl_sampling_skips_size(LARGEST) ? JOB_LARGEST / 4 : LARGEST);
}

static void any_job(void **state)
{
	(void)state;
	deflate_random_jobs(device(), JOBS, sl_sampling_size(JOB_LARGEST));
}

static void no_room(void **state)
{
	(void)state;
	deflate_without_room(device());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_kind_and_cut),
		cmocka_unit_test(any_job),
		cmocka_unit_test(no_room),
	};

	if (!sl_sampling_from_environment())
		return 1;
	if (skips_without_device())
		return SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
