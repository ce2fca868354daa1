/* host_stages.c - the stages of a batch on the host: cancellation, wrong fates, times, and weights of tallies. */
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"

#include "stages/particle/weight.h"

TEST(a_cancelled_batch_stops)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 1000);
	atomic_int cancel = 0;
	struct batch_memory m;

	r.cancel = &cancel;
	open_batch_memory(&m, &r, 0);
	run_batch(&r, &m, 0);
	cancel = 1;
	sl_batch_begin(&r, &m.b, 0);
	assert_fails(sl_stages_run(&r, &m.x, &m.b, NULL), SL_STOPPED,
		"batch 0, stage generate: cancelled: the run was asked to stop");
	close_batch_memory(&m);
}

/* A fate that was changed in memory is detected. */
TEST(wrong_fate_counts_are_detected)
{
	const uint8_t wrong[] = {SL_FATE_alive, SL_FATE_hit, SL_FATE_COUNT, 255};

	for (int i = 0; i < 4; i++) {
		struct sl_recipe r = test_recipe(SL_MODEL_slab, 20000);
		struct batch_memory m;

		open_whole_batch_memory(&m, &r, 0);
		run_batch(&r, &m, 0);
		m.b.columns.fate[17000] = wrong[i];
		memset(&m.b.tally, 0, sizeof(m.b.tally)); /* mark adds to the counts of a batch */
		assert_fails(sl_stages[SL_STAGE_mark].on_host(&r, &m.x, &m.b), SL_CHECK_FAILED,
			wrong[i] < SL_FATE_COUNT
				? "fate counts sum to 20000 for 20000 particles, 1 with a fate"
				: "fate counts sum to 19999 for 20000 particles");
		assert_int_equal(0, m.b.keep[17000]);
		close_batch_memory(&m);
	}
}

TEST(each_stage_is_timed)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 20000);
	uint64_t ns[SL_STAGE_COUNT] = {0};
	struct batch_memory m;

	open_batch_memory(&m, &r, 0);
	sl_batch_begin(&r, &m.b, 0);
	assert_ok(sl_stages_run(&r, &m.x, &m.b, ns));
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		assert_int_equal(ns[s] > 0, sl_stage_is_run(SL_MODE_staged, s));
	close_batch_memory(&m);
}

/* Weights are rounded to the nearest multiple of 2^-32, without bias. */
TEST(weights_are_rounded)
{
	double sum = 0;

	assert_int_equal(UINT64_C(1) << 32, sl_fixed_weight(1.0f));
	assert_int_equal((UINT64_C(1) << 32) - 256, sl_fixed_weight(0x1.fffffep-1f));
	assert_int_equal((1 << 23) + 1, sl_fixed_weight(0x1.000002p-9f));
	assert_int_equal((1 << 23), sl_fixed_weight(0x1.fffffep-10f));
	assert_int_equal((1 << 23) - 1, sl_fixed_weight(0x1.fffffcp-10f));
	assert_int_equal(1, sl_fixed_weight(0x1p-33f));
	assert_int_equal(0, sl_fixed_weight(0x1.fffffcp-34f));
	assert_int_equal(0, sl_fixed_weight(0));
	for (int k = 0; k < 1000; k++) {
		float weight = 1e-6f * (1 + (float)k / 997);
		double off = (double)sl_fixed_weight(weight) - 0x1p32 * (double)weight;

		assert_true(fabs(off) <= 0.5);
		sum += off;
	}
	assert_true(fabs(sum) < 4 * sqrt(1000 / 12.0));
}
