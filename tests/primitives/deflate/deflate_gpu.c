/*
 * deflate_gpu.c - compares the device encoders, on a GPU, with the specification byte for byte.
 *
 *	SLUICE_DEFLATE_JOBS=1000   number of random jobs, each with some hundred inputs (deflate_sweep.h)
 *
 * The test is skipped without a device.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/formats/deflate_sweep.h"
#include "tests/support/basic/skip.h"

enum { LARGEST = 32 << 20, JOBS = 200, JOB_LARGEST = 400000 };

static const struct sl_backend *encoder;

static void every_size_kind_and_split(void **state)
{
	(void)state;
	deflate_sweep(encoder, sl_sampling_skips_size(LARGEST) ? JOB_LARGEST / 4 : LARGEST);
}

static void random_jobs(void **state)
{
	(void)state;
	deflate_random_jobs(encoder, JOBS, sl_sampling_size(JOB_LARGEST));
}

static void joined_parts(void **state)
{
	(void)state;
	deflate_check_parts(encoder, sl_sampling_size(JOB_LARGEST));
}

static void no_room(void **state)
{
	(void)state;
	deflate_check_full_output(encoder);
}

TEST_FILE(argc, argv)
{
	static const char *const encoders[] = {"device", "device_fast"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_kind_and_split),
		cmocka_unit_test(random_jobs),
		cmocka_unit_test(joined_parts),
		cmocka_unit_test(no_room),
	};
	int failed = 0;

	if (!sl_sampling_from_environment())
		return 1;
	if (skips_without_device())
		return SKIPPED;
	for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
		encoder = deflate_backend(encoders[i]);
		failed += cmocka_run_group_tests_name(encoders[i], tests, NULL, NULL);
	}
	return failed;
}
