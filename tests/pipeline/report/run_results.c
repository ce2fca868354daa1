/*
 * run_results.c - sums over batches, and the checks, compared with hand calculation: fractions of
 * particles and of weight, and their errors.
 */
#include "pipeline/report/tallies/tallies.h"

#include <math.h>
#include <string.h>

#include "stages/models/models.h"
#include "tests/support/basic/check.h"

enum { BATCHES_MOST = 32 };

/* A run of a slab without files: its plan, manifest and results. */
struct sums {
	struct sl_plan plan;
	struct sl_manifest_line line[BATCHES_MOST];
	struct sl_manifest m;
	struct sl_results r;
};

static struct sums sums;

static void reset_sums(bool weighted)
{
	memset(&sums, 0, sizeof(sums));
	sums.m.line = sums.line;
	sums.plan.recipe.model = sl_models[SL_MODEL_slab];
	sums.plan.choices.stop_rule.counts = !weighted;
	sums.plan.config.check.sigma = 4;
	for (int f = 0; f < SL_FATE_COUNT; f++)
		sums.plan.config.check.fate[f] = (double)NAN;
}

/*
 * Adds a batch: half of its particles are reflected, each with the same part of this share of all
 * weight; the others end by Russian roulette.
 */
static void add_batch(uint64_t n, double reflected)
{
	struct sl_manifest_line *l = &sums.line[sums.m.n];

	l->batch = sums.m.n++;
	l->generated = n;
	l->tally.count[SL_FATE_reflected] = n / 2;
	l->tally.weight[SL_FATE_reflected] = (uint64_t)(reflected * (double)n * 0x1p32);
	l->tally.square[SL_FATE_reflected] =
		(uint64_t)(2 * reflected * reflected * (double)n * 0x1p32);
	l->tally.count[SL_FATE_roulette] = n - n / 2;
}

static void expect_close(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.12g found, %.12g expected", found, expected);
}

/* The deviation of a check; all outputs must agree on whether it passed. */
static double deviation(enum sl_fate fate, double expected)
{
	double sigmas;

	sums.plan.config.check.fate[fate] = expected;
	sl_results_make(&sums.m, sums.plan.choices.stop_rule.counts, &sums.r);
	sigmas = sl_check_deviation(&sums.plan, &sums.r, fate);
	assert_int_equal(
		sl_checks(&sums.plan, &sums.r), fabs(sigmas) <= 4 ? SL_OK : SL_CHECK_FAILED);
	sums.plan.config.check.fate[fate] = (double)NAN;
	return sigmas;
}

/* The error by scatter. */
static double over_batches(enum sl_fate fate)
{
	return sl_precision_error(&sums.r.fate[fate].precision, sums.r.all) *
	       (sums.r.counts ? 1 : 0x1p-32);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* 0.25 of the weight is tallied, so implicit capture absorbed 0.75; both have the same error. */
TEST(missing_weight_counts_as_absorbed)
{
	const struct sl_fate_result *f = sums.r.fate;

	reset_sums(true);
	add_batch(1024, 0.25);
	add_batch(1024, 0.125);
	add_batch(1024, 0.375);
	sl_results_make(&sums.m, sums.plan.choices.stop_rule.counts, &sums.r);
	expect_close(f[SL_FATE_reflected].result.value, 0.25);
	expect_close(f[SL_FATE_absorbed].result.value, 0.75);
	assert_true(f[SL_FATE_absorbed].count == 0 && f[SL_FATE_reflected].count == 3 * 512);
	assert_true(f[SL_FATE_absorbed].weight.sum == (sl_sum)(3 * 1024 * 0.75) << 32);
	expect_close(f[SL_FATE_reflected].fraction, 0.5);
	/* sqrt(2 * 0.125^2 / (3 * 2)) */
	expect_close(over_batches(SL_FATE_reflected), 0.125 / sqrt(3));
	expect_close(over_batches(SL_FATE_absorbed), 0.125 / sqrt(3));
	/* half of a batch weighs 0.5, 0.25 or 0.75, and the other half nothing */
	expect_close(f[SL_FATE_reflected].result.error, sqrt((0.875 / 6 - 0.0625) / 3072));
	expect_close(f[SL_FATE_absorbed].result.error, f[SL_FATE_reflected].result.error);
	assert_true(f[SL_FATE_roulette].result.value == 0 && f[SL_FATE_roulette].result.error == 0);
	/*
	 * a batch counts in proportion to its particles: (4096 * 0.05^2 + 1024 * 0.2^2) / (1 *
	 * 5120)
	 */
	reset_sums(true);
	add_batch(4096, 0.25);
	add_batch(1024, 0.5);
	sl_results_make(&sums.m, sums.plan.choices.stop_rule.counts, &sums.r);
	expect_close(f[SL_FATE_reflected].result.value, 0.3);
	expect_close(over_batches(SL_FATE_reflected), 0.1);
}

/* A particle that is absorbed as a whole has its weight in the tally, so no weight is missing. */
TEST(analogue_absorption_is_counted_once)
{
	reset_sums(false);
	add_batch(1000, 0.5);
	sums.line[0].tally.count[SL_FATE_roulette] = 0;
	sums.line[0].tally.count[SL_FATE_absorbed] = 500;
	sums.line[0].tally.weight[SL_FATE_absorbed] = (uint64_t)500 << 32;
	sl_results_make(&sums.m, sums.plan.choices.stop_rule.counts, &sums.r);
	expect_close(sums.r.fate[SL_FATE_absorbed].result.value, 0.5);
	expect_close(sums.r.fate[SL_FATE_absorbed].fraction, 0.5);
	/* one batch gives no error by scatter */
	assert_true(isnan(over_batches(SL_FATE_absorbed)));
}

/*
 * The deviation is the difference divided by the standard error: of counts that of the expected
 * value; of weights that of their squares, however many batches there are and however much they
 * differ. A fate that no particle has, or whose weights have no squares, as those of older
 * versions, has the binomial error.
 */
TEST(deviations_have_standard_errors)
{
	static const struct {
		bool weighted;
		uint64_t batches, n;
		double spread; /* the fraction reflected is 0.5 with this more, then less */
		enum sl_fate fate;
		double found, expected, variance; /* of a particle */
	} rows[] = {{false, 2, 500, 0, SL_FATE_reflected, 0.5, 0.45, 0.45 * 0.55},
		{false, 2, 500, 0, SL_FATE_reflected, 0.5, 0.55, 0.45 * 0.55},
		{false, 2, 500, 0, SL_FATE_reflected, 0.5, 0.5, 1},
		{false, 2, 500, 0, SL_FATE_transmitted, 0, 0, 0},
		{false, 2, 500, 0, SL_FATE_reflected, 0.5, 0, 0},
		{true, 1, 1000, 0.25, SL_FATE_reflected, 0.75, 0.7, 0.5625},
		{true, 1, 1000, -0.25, SL_FATE_reflected, 0.25, 0.26, 0.0625},
		{true, 1, 1000, -0.25, SL_FATE_absorbed, 0.75, 0.76, 0.0625},
		{true, 1, 1000, 0, SL_FATE_transmitted, 0, 0.1, 0.09},
		{true, 2, 10000, 0.25, SL_FATE_reflected, 0.5, 0.4, 0.375}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const double e = rows[i].expected, n = (double)(rows[i].batches * rows[i].n);
		double want = rows[i].found - e, found;

		reset_sums(rows[i].weighted);
		for (uint64_t b = 0; b < rows[i].batches; b++)
			add_batch(rows[i].n, 0.5 + (b % 2 ? -1 : 1) * rows[i].spread);
		found = deviation(rows[i].fate, e);
		want = want != 0 ? want / sqrt(rows[i].variance / n) : 0;
		if (found != want && !(fabs(found - want) <= 1e-9 * fabs(want)))
			fail_msg("row %zu: %.12g, expected %.12g", i, found, want);
	}
	memset(sums.line[0].tally.square, 0, sizeof(sums.line[0].tally.square));
	memset(sums.line[1].tally.square, 0, sizeof(sums.line[1].tally.square));
	expect_close(deviation(SL_FATE_reflected, 0.4), 0.1 / sqrt(0.24 / 20000));
	assert_true(isnan(sums.r.fate[SL_FATE_reflected].result.error) &&
		    isnan(sums.r.fate[SL_FATE_absorbed].result.error));
}
