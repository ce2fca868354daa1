/*
 * slab_implicit.c - tests implicit capture and roulette: the mean weight is preserved, and results
 * equal those of analogue absorption with smaller errors.
 */
#include "tests/support/models/slab_check.h"

TEST(without_absorption_both_estimators_agree)
{
	struct sl_slab_config c = slab_stack;
	struct sl_slab r, s;

	c.mu_a = (struct sl_reals)ONE(0);
	r = slab_rules(c);
	s = slab_rules(slab_implicit(c));
	for (uint64_t id = 0; id < 2000; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id), q = p;

		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, UINT32_MAX);
		sl_slab_advance(&s, SL_EVERY_COLUMN, 1, &q, UINT32_MAX);
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

TEST(collisions_reduce_the_weight)
{
	struct sl_slab r = slab_rules(slab_implicit(slab_plain));
	struct sl_particle p = {.weight = 1};

	sl_slab_absorb(&r, 1, 0, &p, 0x1p-33f);
	assert_true(p.weight == 0.9f && p.fate == SL_FATE_alive);
	sl_slab_absorb(&r, 1, 0, &p, 1.0f);
	assert_true(p.weight == 0.9f * 0.9f && p.fate == SL_FATE_alive);
	p.weight = 1.2e-4f; /* stays above */
	sl_slab_absorb(&r, 1, 0, &p, 1.0f);
	assert_true(p.weight == 1.2e-4f * 0.9f && p.fate == SL_FATE_alive);
}

/* The mean weight is preserved: summed over equally spaced random numbers, without statistics. */
TEST(roulette_preserves_the_mean_weight)
{
	struct sl_slab r = slab_rules(slab_implicit(slab_plain));
	const float before = 1.05e-4f, after = before * 0.9f;
	enum { N = 1 << 16 };
	double sum = 0;

	for (uint32_t k = 0; k < N; k++) {
		struct sl_particle p = {.weight = before};
		bool wins = (double)(k << 16) / 0x1p32 < 0.1;

		sl_slab_absorb(&r, 1, 0, &p, sl_uniform(k << 16));
		assert_int_equal(wins ? SL_FATE_alive : SL_FATE_roulette, p.fate);
		assert_true(wins ? fabsf(p.weight / after - 10.0f) < 1e-5f : p.weight == 0.0f);
		sum += (double)p.weight;
	}
	assert_true(fabs(sum / N / (double)after - 1) < 10.0 / N);
}

/* The weight that ends as each fate, of N particles, and its standard error. */
struct estimate {
	double mean[SL_FATE_COUNT], error[SL_FATE_COUNT];
	double steps; /* of a history: the cost */
};

static struct estimate estimate(struct sl_slab_config c, uint64_t seed)
{
	struct sl_slab r = slab_rules(c);
	double sum[SL_FATE_COUNT] = {0}, squares[SL_FATE_COUNT] = {0};
	enum { N = 50000 };
	struct estimate e = {.steps = 0};

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, seed, id);
		double left, weight;

		sl_slab_advance(&r, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);
		weight = p.fate == SL_FATE_absorbed ? 0 : (double)p.weight;
		left = 1 - weight;
		e.steps += (double)p.steps / N;
		sum[p.fate] += weight;
		squares[p.fate] += weight * weight;
		sum[SL_FATE_absorbed] += left;
		squares[SL_FATE_absorbed] += left * left;
	}
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		e.mean[f] = sum[f] / N;
		e.error[f] = sqrt((squares[f] / N - e.mean[f] * e.mean[f]) / N);
	}
	return e;
}

/* Different seeds make the runs independent. Implicit capture must not increase any error. */
TEST(implicit_agrees_with_analogue)
{
	struct sl_slab_config often = slab_plain;
	const enum sl_fate fates[] = {
		SL_FATE_reflected, SL_FATE_transmitted, SL_FATE_absorbed, SL_FATE_max_steps};
	double worst = 0;

	often.roulette.below = 0.4;
	often.roulette.survive = 0.5;
	for (int k = 0; k < 5; k++) {
		const struct sl_slab_config slabs[] = {
			slab_of_one(10, 90, 0.75, 0.02, 1, 1, 1, 0, 0), slab_plain, slab_stack,
			often, slab_of_one(50, 50, 0, 0.05, 1.4, 1, 1, 0, SL_SLAB_DIFFUSE)};
		struct estimate a = estimate(slabs[k], 1), b = estimate(slab_implicit(slabs[k]), 2);

		for (int i = 0; i < 4; i++) {
			enum sl_fate f = fates[i];
			double error = sqrt(a.error[f] * a.error[f] + b.error[f] * b.error[f]);
			double off = b.mean[f] - a.mean[f];

			worst = fmax(worst, fabs(off) > 0 ? fabs(off) / error : 0);
			assert_true(b.error[f] <= 1.02 * a.error[f]);
		}
	}
	print_message("implicit capture within %.1f standard errors of analogue\n", worst);
	assert_true(worst < 4);
}

/* 1/(variance of the reflected weight times steps), relative to analogue absorption. */
static double efficiency(struct sl_slab_config c, int absorption)
{
	struct estimate a = estimate(c, 1), b;

	c.absorption = absorption;
	b = estimate(c, 2);
	assert_true(fabs(b.mean[SL_FATE_reflected] - a.mean[SL_FATE_reflected]) <
		    4 * hypot(a.error[SL_FATE_reflected], b.error[SL_FATE_reflected]));
	return pow(a.error[SL_FATE_reflected] / b.error[SL_FATE_reflected], 2) * a.steps / b.steps;
}

/* Balanced roulette pays where absorption is strong, and costs nothing in skin, whose histories are
 * long. There the default roulette of implicit capture costs more than it saves. */
TEST(balanced_is_at_least_as_efficient_as_analogue)
{
	struct sl_slab_config half = slab_of_one(5, 5, 0, HUGE_VAL, 1, 1, 1, 0, 0);
	struct sl_slab_config forward = slab_of_one(10, 10, 0.75, 0.5, 1, 1, 1, 0, 0);
	struct sl_slab_config skin = slab_of_one(2, 190, 0.82, 0.3, 1.4, 1, 1, 0, 0);
	double in_half = efficiency(half, SL_SLAB_BALANCED);
	double in_forward = efficiency(forward, SL_SLAB_BALANCED);
	double in_skin = efficiency(skin, SL_SLAB_BALANCED), by_default;

	skin.roulette.below = 1e-4;
	skin.roulette.survive = 0.1;
	by_default = efficiency(skin, SL_SLAB_IMPLICIT);
	print_message("relative efficiency %.2f %.2f, in skin %.2f and %.2f\n", in_half, in_forward,
		in_skin, by_default);
	assert_true(in_half > 1.3 && in_forward > 1.2);
	assert_true(in_skin > 0.95);
	assert_true(by_default < 0.7);
}

TEST(balanced_is_implicit_with_one_half)
{
	struct sl_slab_config c = slab_implicit(slab_stack);
	struct sl_slab a, b;

	c.roulette.below = c.roulette.survive = 0.5;
	a = slab_rules(c);
	c.absorption = SL_SLAB_BALANCED;
	c.roulette.below = 1e-4;
	c.roulette.survive = 0.1;
	b = slab_rules(c);
	assert_memory_equal(&a, &b, sizeof(a));
}

TEST(bad_roulettes_are_refused)
{
	struct sl_slab_config c = slab_implicit(slab_plain);

	slab_expect_messages(slab_plain, " roulette.below roulette.survive ",
		"roulette.below: has no effect here: only absorption: implicit uses it; remove it or choose that\n"
		"roulette.survive: has no effect here: only absorption: implicit uses it; remove it or choose that\n");
	slab_expect_messages(c, " roulette.below roulette.survive ", "");
	c.absorption = SL_SLAB_BALANCED;
	slab_expect_messages(c, " roulette.survive ",
		"roulette.survive: has no effect here: only absorption: implicit uses it; remove it or choose that\n");
	c.absorption = SL_SLAB_IMPLICIT;
	c.roulette.below = 0.2;
	slab_expect_messages(c, " roulette.below ",
		"roulette.below: is above roulette.survive: weights could exceed 1; make it at most 0.1\n");
}
