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

TEST(every_backend)
{
	device_pipeline_check_backends(sl_sampling_size(1000003));
}

TEST(every_shape)
{
	device_pipeline_check_shapes(sl_sampling_size(UINT32_MAX));
}

TEST(every_tile_of_fused)
{
	device_pipeline_check_fused(sl_sampling_size(UINT32_MAX));
}

TEST(every_key)
{
	device_pipeline_check_keys(257);
}

TEST(every_schedule)
{
	device_pipeline_check_rounds(1);
	device_pipeline_check_rounds(257);
	device_pipeline_check_rounds(sl_sampling_size(1000003));
	device_pipeline_check_rounds_of_all(sl_sampling_size(100003));
}

TEST(histograms_of_every_column)
{
	device_pipeline_check_bins(sl_sampling_size(300007));
}

TEST(derived_columns_grids_and_scores)
{
	device_pipeline_check_counting(sl_sampling_size(300007));
}

TEST(scores_of_collisions)
{
	device_pipeline_check_collisions(sl_sampling_size(300007));
}

TEST(every_condition)
{
	device_pipeline_check_conditions(sl_sampling_size(70000));
}

TEST(a_pipeline_used_again)
{
	device_pipeline_check_reuse(sl_sampling_size(300007));
}

TEST(a_bit_flipped_in_a_transfer)
{
	device_pipeline_check_flips(FLIPPED);
}

BEFORE_TESTS()
{
	skip_without_device();
}
