/*
 * pack.c - tests survivors packed on the emulated device: columns, records, and compressed streams
 * of both.
 */
#include "primitives/emulator/settings.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/pack_check.h"
#include "tests/support/device/pack_kernels_check.h"
#include "tests/support/device/mcpl_pack_check.h"

/* More items than the threads of several blocks handle, and not a whole number of words. */
enum { MOST = 5003 };

TEST(kernels_pack_as_the_host)
{
	pack_check_kernels(MOST);
	mcpl_pack_check_kernel(1000);
}

TEST(pipelines_pack_as_the_host)
{
	static const uint32_t sizes[] = {1, 31, 700};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sl_sampling_selects()) {
			pack_check_pipelines(sizes[i]);
			pack_check_forms(sizes[i] / 4 + 1);
		}
}

TEST(jobs_fit_into_their_scratch)
{
	for (uint32_t most = 1; most <= 1u << 27; most *= 8)
		pack_check_jobs(most);
}

/* Blocks run interleaved at random and start from the last one. */
TEST(block_order_changes_no_byte)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();
	struct sl_emulator_settings c = was;

	c.blocks = 3;
	c.seed = 5;
	c.from_last = true;
	sl_emulator_set_settings(&c);
	pack_check_kernels(MOST);
	mcpl_pack_check_kernel(600);
	pack_check_pipelines(150);
	sl_emulator_set_settings(&was);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
