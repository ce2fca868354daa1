/*
 * deflate_gpu.c - compares the device encoders, on a GPU, with the specification byte for byte.
 *
 *	SLUICE_DEFLATE_JOBS=1000   number of random jobs, each with up to some hundred streams (deflate_inputs.h)
 *
 * The test is skipped without a device.
 */
#include <stdlib.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/formats/deflate_inputs.h"

enum { LARGEST = 32 << 20, JOBS = 500, JOB_LARGEST = 400000 };

TEST(device_writes_the_bytes_of_the_specification)
{
	static const char *const names[] = {"device", "device_fast"};
	const char *setting = getenv("SLUICE_DEFLATE_JOBS");
	const uint64_t jobs = setting ? strtoull(setting, NULL, 10) : JOBS;
	const struct sl_backend *b;

	assert_true(jobs > 0);
	for (int i = 0; i < 2; i++) {
		assert_ok(sl_find(SL_DEFLATE, names[i], &b));
		deflate_sweep(b, sl_sampling_skips_size(LARGEST) ? JOB_LARGEST / 4 : LARGEST);
		for (uint64_t k = 0; k < jobs; k++)
			deflate_random(b, k, sl_sampling_size(JOB_LARGEST));
	}
}

BEFORE_TESTS()
{
	skip_without_device();
}
