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

TEST(every_size_kind_and_split)
{
	deflate_sweep(encoder, sl_sampling_skips_size(LARGEST) ? JOB_LARGEST / 4 : LARGEST);
}

TEST(random_jobs)
{
	deflate_random_jobs(encoder, JOBS, sl_sampling_size(JOB_LARGEST));
}

TEST(joined_parts)
{
	deflate_check_parts(encoder, sl_sampling_size(JOB_LARGEST));
}

TEST(no_room)
{
	deflate_check_full_output(encoder);
}

TEST_FILE(argc, argv)
{
	static const char *const encoders[] = {"device", "device_fast"};
	int failed = 0;

	skip_without_device();
	for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
		encoder = deflate_backend(encoders[i]);
		failed += run_test_file(encoders[i]);
	}
	return failed;
}
