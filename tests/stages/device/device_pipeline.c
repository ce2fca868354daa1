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

static void every_backend(void **state)
{
	(void)state;
	device_pipeline_check_backends(N);
}

static void every_shape(void **state)
{
	(void)state;
	device_pipeline_check_shapes(LARGEST);
}

static void every_tile_of_fused(void **state)
{
	(void)state;
	device_pipeline_check_fused(LARGEST);
}

static void every_key(void **state)
{
	(void)state;
	device_pipeline_check_keys(KEYED);
}

static void every_schedule(void **state)
{
	static const uint32_t sizes[] = {1, 31, 255, 256, 257, 700};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		device_pipeline_check_rounds(sizes[i]);
	device_pipeline_check_rounds_of_all(300);
}

static void histograms_of_every_column(void **state)
{
	(void)state;
	device_pipeline_check_bins(2305);
}

static void derived_columns_grids_and_scores(void **state)
{
	(void)state;
	device_pipeline_check_counting(2305);
}

static void scores_of_collisions(void **state)
{
	(void)state;
	device_pipeline_check_collisions(3103);
}

static void every_condition(void **state)
{
	(void)state;
	device_pipeline_check_conditions(65);
}

static void a_pipeline_used_again(void **state)
{
	(void)state;
	device_pipeline_check_reuse(N);
}

static void work_done_at_once(void **state)
{
	struct sl_emulator_settings c = *sl_emulator_get_settings();

	(void)state;
	c.at_once = true;
	sl_emulator_set_settings(&c);
	device_pipeline_check_reuse(N);
}

/* Blocks run interleaved at random, or start with the last one. */
static void any_order(void **state)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();

	(void)state;
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
		cmocka_unit_test(any_order),
		cmocka_unit_test(work_done_at_once),
	};

	if (!sl_sampling_from_environment())
		return 1;
	sl_device_emulate(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
