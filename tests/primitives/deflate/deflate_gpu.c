/*
 * deflate_gpu.c - compares the device encoders, on a GPU, with the specification byte for byte.
 *
 *	SLUICE_DEFLATE_JOBS=1000   number of random jobs, each with up to some hundred streams (deflate_inputs.h)
 *
 * The test is skipped without a device.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/formats/deflate_inputs.h"

enum { LARGEST = 32 << 20, JOBS = 500, JOB_LARGEST = 400000 };

static void encoder_is_right(const char *name)
{
	const struct sl_backend *b;

	assert_ok(sl_find(SL_DEFLATE, name, &b));
	deflate_sweep(b, sl_sampling_skips_size(LARGEST) ? JOB_LARGEST / 4 : LARGEST);
	deflate_random_jobs(b, JOBS, sl_sampling_size(JOB_LARGEST));
}

TEST(device_writes_the_bytes_of_cpu)
{
	encoder_is_right("device");
}

TEST(device_fast_writes_the_bytes_of_cpu_fast)
{
	encoder_is_right("device_fast");
}

BEFORE_TESTS()
{
	skip_without_device();
}
