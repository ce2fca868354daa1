/*
 * absorption.c - tests implicit capture and roulette, which preserve the mean weight, and the
 * regions of slab_paths, from which other absorption follows: results equal those of analogue
 * absorption, some with smaller errors.
 */
#define SL_MODEL_HOST
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/models/slab.h"
#include "stages/models/slab_paths.h"

#define PLAIN "mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 1 cm"
#define STACK                                                                   \
	"mu_a: [1 /cm, 0, 2 /cm], mu_s: [9 /cm, 0, 38 /cm], g: [0.5, 0.9, 0], " \
	"thickness: [0.1 cm, 0.05 cm, 0.2 cm], n: [1.5, 1, 1.4], n_above: 1.1, n_below: 1.2"
#define CLEAR \
	"mu_a: 0, mu_s: [9 /cm, 0, 38 /cm], thickness: [0.1 cm, 0.05 cm, 0.2 cm], n: [1.5, 1, 1.4]"
#define IMPLICIT ", absorption: implicit"
#define BALANCED ", absorption: balanced"

/* --- one collision ---------------------------------------------------------------------------- */

/*
 * Above the threshold of roulette a collision multiplies the weight; below, roulette preserves its
 * mean, which is summed over equally spaced random numbers, without statistics.
 */
TEST(collisions_preserve_the_mean_weight)
{
	static const float weights[] = {1, 0.9f, 1.2e-4f /* stays above */, 1.05e-4f};
	struct sl_slab r = RULES(slab, PLAIN IMPLICIT);
	enum { N = 1 << 16 };

	for (int i = 0; i < 4; i++) {
		const float after = weights[i] * 0.9f;
		double sum = 0;

		for (uint32_t k = 0; k < N; k++) {
			struct sl_particle p = {.weight = weights[i]};
			bool wins = k < N / 10.0;

			sl_absorb(&r.roulette, r.layer[0].absorb, r.layer[0].keep, &p,
				sl_uniform(k << 16));
			if (i < 3)
				assert_true(p.weight == after && p.fate == SL_FATE_alive);
			else if (wins)
				assert_true(fabsf(p.weight / after - 10.0f) < 1e-5f &&
					    p.fate == SL_FATE_alive);
			else
				assert_true(p.weight == 0.0f && p.fate == SL_FATE_roulette);
			sum += (double)p.weight;
		}
		assert_true(fabs(sum / N / (double)after - 1) < 10.0 / N);
	}
}

/* --- the results of a slab -------------------------------------------------------------------- */

/*
 * The weight that is reflected or transmitted, per particle, its standard error, and the steps of a
 * history: the cost.
 */
struct results {
	double mean[2], error[2], steps;
};

static struct results results_of(const struct sl_recipe *recipe, uint64_t seed)
{
	struct results e = {.steps = 0};
	struct sl_recipe r = *recipe;
	double squares[2] = {0};
	enum { N = 30000 };

	r.seed = seed;
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = end_of(&r, id);
		double weight = (double)p.weight;

		e.steps += (double)p.steps / N;
		if (p.fate != SL_FATE_reflected && p.fate != SL_FATE_transmitted)
			continue;
		e.mean[p.fate == SL_FATE_transmitted] += weight / N;
		squares[p.fate == SL_FATE_transmitted] += weight * weight / N;
	}
	for (int k = 0; k < 2; k++)
		e.error[k] = sqrt((squares[k] - e.mean[k] * e.mean[k]) / N);
	return e;
}

/* Results of independent runs. Returns their largest difference in standard errors. */
static double difference(const struct results *a, const struct results *b)
{
	double worst = 0;

	for (int k = 0; k < 2; k++)
		if (a->mean[k] > 0 || b->mean[k] > 0)
			worst = fmax(worst,
				fabs(a->mean[k] - b->mean[k]) / hypot(a->error[k], b->error[k]));
	return worst;
}

/*
 * No error is larger than that of analogue absorption. Balanced roulette pays where absorption is
 * strong, and costs nothing in skin, whose histories are long. There the default roulette of
 * implicit capture costs more than it saves.
 */
TEST(results_are_those_of_analogue_absorption)
{
#define SKIN "mu_a: 2 /cm, mu_s: 190 /cm, g: 0.82, thickness: 0.3 cm, n: 1.4"
	static const struct {
		const char *slab, *absorption;
		double least, most; /* 1/(variance of the reflected weight times steps) */
	} rows[] = {{"mu_a: 10 /cm, mu_s: 90 /cm, g: 0.75, thickness: 0.02 cm", IMPLICIT, 0, 99},
		{PLAIN, IMPLICIT, 0, 99}, {STACK, IMPLICIT, 0, 99},
		{PLAIN, IMPLICIT ", roulette: {below: 0.4, survive: 0.5}", 0, 99},
		{"mu_a: 50 /cm, mu_s: 50 /cm, thickness: 0.05 cm, n: 1.4, incidence: diffuse",
			IMPLICIT, 0, 99},
		{"mu_a: 5 /cm, mu_s: 5 /cm, thickness: inf", BALANCED, 1.3, 99},
		{"mu_a: 10 /cm, mu_s: 10 /cm, g: 0.75, thickness: 0.5 cm", BALANCED, 1.2, 99},
		{SKIN, BALANCED, 0.95, 99}, {SKIN, IMPLICIT, 0, 0.7}};
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	struct sl_sampled rows_of = sl_sampling_share(n);

	for (size_t i = rows_of.first; i < n; i += rows_of.step) {
		struct sl_recipe r = recipe_of("slab: {%s}", rows[i].slab),
				 s = recipe_of("slab: {%s%s}", rows[i].slab, rows[i].absorption);
		struct results a = results_of(&r, 1), b = results_of(&s, 2);
		double pays = pow(a.error[0] / b.error[0], 2) * a.steps / b.steps,
		       off = difference(&a, &b);
		bool larger = b.error[0] > 1.03 * a.error[0] || b.error[1] > 1.03 * a.error[1];

		if (larger || off > 4 || pays < rows[i].least || pays > rows[i].most)
			fail_msg("%s%s: %.1f standard errors, efficiency %.2f, errors %s",
				rows[i].slab, rows[i].absorption, off, pays,
				larger ? "larger" : "smaller");
	}
}

/*
 * Columns other than those of the regions have the bits of the model slab; without absorption, all
 * estimators agree.
 */
TEST(histories_are_those_of_slab)
{
	static const char *const pairs[][2] = {{"slab: {" PLAIN "}", "slab_paths: {" PLAIN "}"},
		{"slab: {" STACK "}", "slab_paths: {" STACK "}"},
		{"slab: {" STACK IMPLICIT "}", "slab_paths: {" STACK IMPLICIT "}"},
		{"slab: {" PLAIN IMPLICIT "}", "slab_paths: {" PLAIN IMPLICIT "}"},
		{"slab: {" CLEAR "}", "slab: {" CLEAR IMPLICIT "}"}};

	for (int k = 0; k < 5; k++) {
		struct sl_recipe s = recipe_of("%s", pairs[k][0]), r = recipe_of("%s", pairs[k][1]);

		for (uint64_t id = 0; id < 3000; id++) {
			struct sl_particle p = end_of(&s, id), q = end_of(&r, id);

#define REGION(k) q.path_##k = q.momentum_##k = 0, q.collisions_##k = 0;
			SL_EVERY_REGION(REGION)
#undef REGION
			assert_memory_equal(&p, &q, sizeof(p));
		}
	}
}

/* --- slab_paths ------------------------------------------------------------------------------- */

/*
 * The time of flight and the number of collisions are the sums over the regions, with both kinds of
 * absorption.
 */
TEST(regions_add_up)
{
	static const char *const slabs[] = {
		"slab_paths: {" STACK "}", "slab_paths: {" STACK IMPLICIT "}"};
	double deflection = 0, collisions = 0;

	for (uint64_t i = 0; i < 2 * 20000; i++) {
		static struct sl_recipe r;
		struct sl_particle p;
		double time;

		if (i % 20000 == 0)
			r = recipe_of("%s", slabs[i / 20000]);
		p = end_of(&r, i);
		time = (1.5 * (double)p.path_1 + (double)p.path_2 + 1.4 * (double)p.path_3) /
		       29.9792458;
		assert_true(fabs(time - (double)p.time) <= 2e-6 * (double)p.time);
		assert_true(p.collisions == p.collisions_1 + p.collisions_3);
		assert_true(p.collisions_2 == 0 && p.momentum_2 == 0.0f); /* clear */
		assert_true(p.path_1 >= 0.0f && p.path_2 >= 0.0f && p.path_3 >= 0.0f);
		assert_true(p.momentum_3 <= 2 * (float)p.collisions_3);
		if (p.fate == SL_FATE_reflected ||
			p.fate == SL_FATE_transmitted) { /* each collision has scattered */
			deflection += (double)p.momentum_3;
			collisions += p.collisions_3;
		}
	}
	assert_true(collisions > 10000);
	assert_true(fabs(deflection / collisions - 1) < 0.05); /* g = 0 */
}
