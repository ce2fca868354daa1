/*
 * slab_paths.c - tests the model slab_paths: its histories are those of slab, its columns describe them,
 * and a change of absorption by exp(-d path) gives the results of another run.
 */
#include "tests/support/models/slab_check.h"

#include "stages/models/slab_paths.h"

enum { SEED = 8 };

static const struct sl_model_common common = {.max_steps = 1000};

/* Makes the rules of c, which is valid. */
static struct sl_slab_paths paths_rules(struct sl_slab_config c)
{
	struct sl_slab_paths_config config = {c};
	struct sl_slab_paths r;
	struct model_check m;

	memset(&r, 0, sizeof(r));
	model_check_begin(&m, "");
	sl_slab_paths_model.make(&config, &common, &r, &m.check);
	assert_string_equal("", m.messages);
	return r;
}

static struct sl_particle history(const struct sl_slab_paths *r, uint64_t seed, uint64_t id)
{
	struct sl_particle p = sl_slab_paths_generate(r, SL_EVERY_COLUMN, seed, id);

	sl_slab_paths_advance(r, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);
	return p;
}

/* Columns other than those of the regions have the bits of the model slab. */
TEST(histories_are_those_of_slab)
{
	const struct sl_slab_config slabs[] = {
		slab_plain, slab_stack, slab_implicit(slab_stack), slab_implicit(slab_plain)};

	for (int k = 0; k < 4; k++) {
		struct sl_slab s = slab_rules(slabs[k]);
		struct sl_slab_paths r = paths_rules(slabs[k]);

		for (uint64_t id = 0; id < 5000; id++) {
			struct sl_particle p = sl_slab_generate(&s, SL_EVERY_COLUMN, SEED, id);
			struct sl_particle q = history(&r, SEED, id);

			sl_slab_advance(&s, SL_EVERY_COLUMN, SEED, &p, UINT32_MAX);
#define REGION(k) q.path_##k = q.momentum_##k = 0, q.collisions_##k = 0;
			SL_SLAB_EVERY_REGION(REGION)
#undef REGION
			assert_memory_equal(&p, &q, sizeof(p));
		}
	}
}

/* The time of flight and the number of collisions are the sums over the regions. */
TEST(regions_add_up)
{
	struct sl_slab_paths r = paths_rules(slab_stack);
	double deflection = 0, collisions = 0;

	for (uint64_t id = 0; id < 20000; id++) {
		struct sl_particle p = history(&r, SEED, id);
		double time = (1.5 * (double)p.path_1 + (double)p.path_2 + 1.4 * (double)p.path_3) /
		              29.9792458;

		assert_true(fabs(time - (double)p.time) <= 2e-6 * (double)p.time);
		assert_true(p.collisions == p.collisions_1 + p.collisions_3);
		assert_true(p.collisions_2 == 0 && p.momentum_2 == 0.0f); /* clear */
		assert_true(p.path_1 >= 0.0f && p.path_2 >= 0.0f && p.path_3 >= 0.0f);
		assert_true(p.momentum_3 <= 2 * (float)p.collisions_3);
		if (p.fate != SL_FATE_absorbed) { /* each collision has scattered */
			deflection += (double)p.momentum_3;
			collisions += p.collisions_3;
		}
	}
	assert_true(collisions > 10000);
	assert_true(fabs(deflection / collisions - 1) < 0.05); /* g = 0 */
}

/* Unscattered light has crossed each layer once, at its thickness. */
TEST(unscattered_paths_are_the_thicknesses)
{
	struct sl_slab_config c = slab_stack;
	struct sl_slab_paths r;
	int direct = 0;

	c.n = (struct sl_reals)ONE(1);
	c.n_above = c.n_below = 1;
	r = paths_rules(c);
	for (uint64_t id = 0; id < 20000; id++) {
		struct sl_particle p = history(&r, SEED, id);

		if (p.fate != SL_FATE_transmitted || p.collisions > 0)
			continue;
		assert_true(fabs((double)p.path_1 - 0.1) < 1e-7);
		assert_true(fabs((double)p.path_2 - 0.05) < 1e-7);
		assert_true(fabs((double)p.path_3 - 0.2) < 1e-7);
		assert_true(p.momentum_1 == 0.0f && p.momentum_3 == 0.0f);
		direct++;
	}
	assert_true(direct > 0);
}

/* The mean and the standard error of the weight that leaves upwards and downwards. */
struct leaving {
	double mean[2], error[2];
};

/* Weights are multiplied by exp(-more path) in region 1 and in region 3. */
static struct leaving leaving(struct sl_slab_config c, uint64_t seed, const double more[2])
{
	struct sl_slab_paths r = paths_rules(c);
	double sum[2] = {0}, squares[2] = {0};
	enum { N = 60000 };
	struct leaving l;

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = history(&r, seed, id);
		double weight = (double)p.weight *
		                exp(-more[0] * (double)p.path_1 - more[1] * (double)p.path_3);
		int k = p.fate == SL_FATE_transmitted;

		if (!k && p.fate != SL_FATE_reflected)
			continue;
		sum[k] += weight;
		squares[k] += weight * weight;
	}
	for (int k = 0; k < 2; k++) {
		l.mean[k] = sum[k] / N;
		l.error[k] = sqrt((squares[k] / N - l.mean[k] * l.mean[k]) / N);
	}
	return l;
}

/* More absorption in one region and less in another, with both kinds of absorption. */
TEST(absorption_can_be_changed_afterwards)
{
	const double more[2] = {1.5, -1}, none[2] = {0, 0};
	double worst = 0, change = 0;

	for (int implicit = 0; implicit < 2; implicit++) {
		struct sl_slab_config c = implicit ? slab_implicit(slab_stack) : slab_stack;
		struct leaving changed, direct, before;

		c.mu_s.at[2] = 10; /* some light is transmitted */
		before = leaving(c, 1, none);
		changed = leaving(c, 1, more);
		c.mu_a.at[0] += more[0];
		c.mu_a.at[2] += more[1];
		direct = leaving(c, 2, none);
		for (int k = 0; k < 2; k++) {
			double error = hypot(changed.error[k], direct.error[k]);

			worst = fmax(worst, fabs(changed.mean[k] - direct.mean[k]) / error);
			change = fmax(change, fabs(changed.mean[k] - before.mean[k]) / error);
		}
	}
	print_message("changed afterwards within %.1f standard errors\n", worst);
	assert_true(worst < 4 && change > 6);
}

/* Layers of one medium stay apart if their regions differ, and are merged if they agree. */
TEST(regions_divide_a_medium)
{
	struct sl_slab_config c = slab_plain;
	struct sl_particle values;
	struct sl_slab_paths r;

	c.thickness = (struct sl_reals){3, {0.2, 0.3, 0.5}};
	c.regions = (struct sl_counts){3, {2, 2, 0}};
	r = paths_rules(c);
	assert_int_equal(2, r.slab.layers);
	for (uint64_t id = 0; id < 2000; id++) {
		struct sl_particle p = history(&r, SEED, id);

		assert_true(p.path_1 == 0.0f && p.path_3 == 0.0f);
		assert_true(p.path_2 >= 0.2f || p.z < 0.5f);
	}
	assert_int_equal(SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_path_1) |
				 SL_BIT(SL_COLUMN_path_3) | SL_BIT(SL_COLUMN_collisions_1) |
				 SL_BIT(SL_COLUMN_collisions_3) | SL_BIT(SL_COLUMN_momentum_1) |
				 SL_BIT(SL_COLUMN_momentum_3),
		sl_slab_paths_model.constants(&r, &values));
	assert_true(values.path_1 == 0.0f && values.collisions_3 == 0 && values.weight == 1.0f);
	check_range(&sl_slab_paths_model, &r, SL_COLUMN_collisions_2, 0, 1000);
	check_range(&sl_slab_paths_model, &r, SL_COLUMN_z, 0, 1);
}

static void expect_messages(struct sl_slab_config c, const char *expected)
{
	struct sl_slab_paths_config config = {c};
	struct sl_slab_paths r;
	struct model_check m;

	model_check_begin(&m, "");
	sl_slab_paths_model.make(&config, &common, &r, &m.check);
	assert_string_equal(expected, m.messages);
}

TEST(bad_regions_are_refused)
{
	struct sl_slab_config c = slab_stack;

	c.regions = (struct sl_counts){2, {1, 2}};
	expect_messages(c,
		"regions: has 2 values for 3 layers: each layer needs one; give one per layer, or one for all\n");
	c.regions.n = 1;
	expect_messages(c, "");
	c = slab_plain;
	c.thickness = (struct sl_reals){4, {0.1, 0.2, 0.3, 0.4}};
	expect_messages(c,
		"regions: is missing: the slab has 4 layers and there are 3 regions; give the region of each layer, such as [1, 1, 2, 0]\n");
}
