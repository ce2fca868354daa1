/*
 * device_pipeline_gpu.c - compares batches of a GPU with those of the host, byte by byte. The test
 * is skipped without a device. scripts/test_gpu.sh starts a separate process for each test.
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/device/filter_check.h"
#include "tests/support/device/pack_kernels_check.h"

enum { RECIPES = 150, LARGEST = 1000003, FLIPPED = 1000 };

TEST(random_recipes)
{
	device_pipeline_check(0, RECIPES, sl_sampling_size(LARGEST));
}

TEST(more_random_recipes)
{
	device_pipeline_check(RECIPES, RECIPES, sl_sampling_size(LARGEST));
}

TEST(small_random_recipes)
{
	device_pipeline_check(2 * RECIPES, RECIPES, sl_sampling_size(4097));
}

TEST(more_small_random_recipes)
{
	device_pipeline_check(3 * RECIPES, RECIPES, sl_sampling_size(4097));
}

TEST(scores_of_collisions)
{
	device_pipeline_check_collisions(sl_sampling_size(300007));
}

TEST(every_backend)
{
	device_pipeline_check_backends(sl_sampling_size(LARGEST));
}

TEST(a_bit_flipped_in_a_transfer)
{
	device_pipeline_check_flips(FLIPPED);
}

TEST(kernels_pack_as_the_host)
{
	pack_check_kernels(sl_sampling_size(3000001));
	mcpl_pack_check_kernel(sl_sampling_size(1000003));
}

TEST(kernels_filter_as_the_host)
{
	filter_check_kernels(sl_sampling_size(1000003));
}

BEFORE_TESTS()
{
	skip_without_device();
}
