/*
 * device_pipeline.c - compares batches of the emulated device with the host's, byte by byte: of
 * random recipes, packed or not, with kernels whose blocks run in random orders, and with a device
 * that works at once or when it is waited for.
 */
#include <stdlib.h>

#include "primitives/emulator/settings.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/device/filter_check.h"
#include "tests/support/device/pack_check.h"
#include "tests/support/device/pack_kernels_check.h"

#if defined(__SANITIZE_THREAD__)
enum { RECIPES = 150, LARGEST = 257, TILES = 600, BACKENDS = 100, KERNELS = 300, FLIPPED = 5 };
#else
enum {
	RECIPES = 350,
	LARGEST = 4097,
	TILES = 65536,
	BACKENDS = 1500,
	KERNELS = 5003,
	FLIPPED = 30
};
#endif

static struct sl_emulator_settings was;

/*
 * Blocks run one by one, or interleaved at random, or start with the last one. Each share has other
 * recipes.
 */
TEST(random_recipes)
{
	const char *share = getenv("SLUICE_SHARE");
	uint64_t seed = RECIPES * (share ? strtoull(share, NULL, 10) : 0);

	for (uint64_t end = seed + RECIPES; seed < end; seed++) {
		struct sl_emulator_settings c = was;

		c.blocks = 1 + (uint32_t)(seed / 2 % 4);
		c.seed = seed % 2 ? seed : 0;
		c.from_last = seed % 3 == 1;
		c.at_once = seed % 5 == 1;
		sl_emulator_set_settings(&c);
		if (sl_sampling_selects())
			device_pipeline_check(seed, 1, LARGEST);
	}
}

TEST(larger_tiles)
{
	device_pipeline_check_tiles(TILES);
}

TEST(scores_of_collisions)
{
	device_pipeline_check_collisions(3103);
}

TEST(every_backend)
{
	device_pipeline_check_backends(BACKENDS);
}

TEST(a_bit_flipped_in_a_transfer)
{
	device_pipeline_check_flips(FLIPPED);
}

TEST(failed_calls_in_rounds)
{
	device_pipeline_check_failures(100);
}

TEST(kernels_pack_as_the_host)
{
	struct sl_emulator_settings c = was;

	pack_check_kernels(KERNELS);
	mcpl_pack_check_kernel(KERNELS / 5);
	c.blocks = 3;
	c.seed = 5;
	c.from_last = true;
	sl_emulator_set_settings(&c);
	pack_check_kernels(KERNELS);
	mcpl_pack_check_kernel(KERNELS / 8);
}

TEST(kernels_filter_as_the_host)
{
	filter_check_kernels(KERNELS);
}

TEST(jobs_fit_into_their_scratch)
{
	for (uint32_t most = 1; most <= 1u << 27; most *= 8)
		pack_check_jobs(most);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
	was = *sl_emulator_get_settings();
}

AFTER_EACH()
{
	sl_emulator_set_settings(&was);
}
