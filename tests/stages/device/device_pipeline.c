/*
 * device_pipeline.c - compares batches of the emulated device with the host's, byte by byte. Also
 * with a device that defers its work until a wait, and with one that works immediately.
 */
#include "primitives/device/device.h"
#include "primitives/emulator/settings.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/device_pipeline_check.h"

#if defined(__SANITIZE_THREAD__)
enum { N = 600, LARGEST = 257, KEYED = 65, FLIPPED = 5 };
#else
enum { N = 3000, LARGEST = 4097, KEYED = 257, FLIPPED = 30 };
#endif

TEST(every_backend)
{
	device_pipeline_check_backends(N);
}

TEST(every_shape)
{
	device_pipeline_check_shapes(LARGEST);
}

TEST(every_tile_of_fused)
{
	device_pipeline_check_fused(LARGEST);
}

TEST(every_key)
{
	device_pipeline_check_keys(KEYED);
}

TEST(every_schedule)
{
	static const uint32_t sizes[] = {1, 31, 255, 256, 257, 700};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		device_pipeline_check_rounds(sizes[i]);
	device_pipeline_check_rounds_of_all(300);
}

TEST(histograms_of_every_column)
{
	device_pipeline_check_bins(2305);
}

TEST(derived_columns_grids_and_scores)
{
	device_pipeline_check_counting(2305);
}

TEST(scores_of_collisions)
{
	device_pipeline_check_collisions(3103);
}

TEST(every_condition)
{
	device_pipeline_check_conditions(65);
}

TEST(a_pipeline_used_again)
{
	device_pipeline_check_reuse(N);
}

TEST(work_done_at_once)
{
	struct sl_emulator_settings c = *sl_emulator_get_settings();

	c.at_once = true;
	sl_emulator_set_settings(&c);
	device_pipeline_check_reuse(N);
}

/* Blocks run interleaved at random, or start with the last one. */
TEST(any_order)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct sl_emulator_settings c = was;

		c.blocks = 2 + (uint32_t)seed;
		c.seed = seed;
		c.from_last = seed % 2;
		sl_emulator_set_settings(&c);
		device_pipeline_check_tiles(LARGEST, 4);
	}
	sl_emulator_set_settings(&was);
}

TEST(a_bit_flipped_in_a_transfer)
{
	device_pipeline_check_flips(FLIPPED);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
