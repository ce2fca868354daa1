/*
 * device_pipeline_gpu.c - compares batches of a GPU with those of the host, byte by byte. The test is
 * skipped without a device.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/basic/skip.h"

enum { FLIPPED = 1000 };

static void every_backend(void **state)
{
	(void)state;
	device_pipeline_check_backends(sl_sampling_size(1000003));
}

static void every_shape(void **state)
{
	(void)state;
	device_pipeline_check_shapes(sl_sampling_size(UINT32_MAX));
}

static void every_tile_of_fused(void **state)
{
	(void)state;
	device_pipeline_check_fused(sl_sampling_size(UINT32_MAX));
}

static void every_key(void **state)
{
	(void)state;
	device_pipeline_check_keys(257);
}

static void every_schedule(void **state)
{
	(void)state;
	device_pipeline_check_rounds(1);
	device_pipeline_check_rounds(257);
	device_pipeline_check_rounds(sl_sampling_size(1000003));
	device_pipeline_check_rounds_of_all(sl_sampling_size(100003));
}

static void histograms_of_every_column(void **state)
{
	(void)state;
	device_pipeline_check_bins(sl_sampling_size(300007));
}

static void derived_columns_grids_and_scores(void **state)
{
	(void)state;
	device_pipeline_check_counting(sl_sampling_size(300007));
}

static void scores_of_collisions(void **state)
{
	(void)state;
	device_pipeline_check_collisions(sl_sampling_size(300007));
}

static void every_condition(void **state)
{
	(void)state;
	device_pipeline_check_conditions(sl_sampling_size(70000));
}

static void a_pipeline_used_again(void **state)
{
	(void)state;
	device_pipeline_check_reuse(sl_sampling_size(300007));
}

static void a_bit_flipped_in_a_transfer(void **state)
{
	(void)state;
	device_pipeline_check_flips(FLIPPED);
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape),
		cmocka_unit_test(every_tile_of_fused),
		cmocka_unit_test(every_key),
		cmocka_unit_test(every_schedule),
		cmocka_unit_test(histograms_of_every_column),
		cmocka_unit_test(derived_columns_grids_and_scores),
		cmocka_unit_test(scores_of_collisions),
		cmocka_unit_test(every_condition),
		cmocka_unit_test(a_pipeline_used_again),
		cmocka_unit_test(a_bit_flipped_in_a_transfer),
		cmocka_unit_test(every_backend),
	};

	if (!sl_sampling_from_environment())
		return 1;
	if (skips_without_device())
		return SKIPPED;
	cmocka_set_test_filter(
		getenv("SLUICE_TEST")); /* one alone, as scripts/test_gpu.sh wants it */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
