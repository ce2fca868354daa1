/*
 * slab_layers.c - tests a slab of several layers: which equal layers are merged, the properties of
 * each, and what happens at their interfaces.
 */
#include "tests/support/models/slab_check.h"

static struct sl_slab_config stacked(uint32_t n, const double *thickness, struct sl_slab_config c)
{
	c.thickness.n = n;
	memcpy(c.thickness.at, thickness, n * sizeof(*thickness));
	return c;
}

/* However one medium is split, the rules, and therefore all results, have the same bytes. */
TEST(layers_of_one_medium_are_merged)
{
	const double halves[] = {0.5, 0.5}, quarters[] = {0.25, 0.125, 0.375, 0.25};
	const double thin[] = {1 - 0x1p-20, 0x1p-20}, endless[] = {1, HUGE_VAL};
	struct sl_slab whole = slab_rules(slab_plain),
		       r = slab_rules(stacked(2, halves, slab_plain));
	struct sl_slab_config c = slab_plain;

	assert_memory_equal(&r, &whole, sizeof(r));
	r = slab_rules(stacked(4, quarters, slab_plain));
	assert_memory_equal(&r, &whole, sizeof(r));
	r = slab_rules(stacked(2, thin, slab_plain));
	assert_memory_equal(&r, &whole, sizeof(r));
	c.mu_a = (struct sl_reals){4, {1, 1, 1, 1}};
	c.n = (struct sl_reals){4, {1, 1, 1, 1}};
	r = slab_rules(stacked(4, quarters, c));
	assert_memory_equal(&r, &whole, sizeof(r));
	c = slab_plain;
	c.thickness.at[0] = HUGE_VAL;
	whole = slab_rules(c);
	r = slab_rules(stacked(2, endless, slab_plain));
	assert_memory_equal(&r, &whole, sizeof(r));
}

/* The same within a stack; a layer that differs in any value stays separate. */
TEST(layers_that_differ_stay_separate)
{
	const struct sl_slab_config cut = {.mu_a = {5, {1, 0, 0, 2, 2}},
		.mu_s = {5, {9, 0, 0, 38, 38}},
		.g = {5, {0.5, 0.9, 0.9, 0, 0}},
		.thickness = {5, {0.1, 0.03125, 0.01875, 0.125, 0.075}},
		.n = {5, {1.5, 1, 1, 1.4, 1.4}},
		.n_above = 1.1,
		.n_below = 1.2,
		.roulette = {1e-4, 0.1}};
	struct sl_slab r = slab_rules(cut), whole = slab_rules(slab_stack);
	struct sl_slab_config c = slab_plain;

	assert_memory_equal(&r, &whole, sizeof(r));
	for (int k = 0; k < 4; k++) {
		struct sl_reals two = {2, {1, k % 2 ? 0.5 : 1.5}};

		c = slab_plain;
		c.thickness.n = 2;
		c.thickness.at[1] = 1;
		*(k == 0 ? &c.mu_a : k == 1 ? &c.g : k == 2 ? &c.n : &c.mu_s) = two;
		assert_int_equal(2, slab_rules(c).layers);
	}
}

TEST(layers_are_adjacent)
{
	struct sl_slab r = slab_rules(slab_stack);
	const struct sl_slab_layer *l = r.layer;

	assert_int_equal(3, r.layers);
	assert_true(l[0].top == 0.0f && l[0].bottom == 0.1f && l[1].top == 0.1f);
	assert_true(l[1].bottom == (float)(0.1 + 0.05) && l[2].top == l[1].bottom);
	assert_true(l[2].bottom == (float)(0.1 + 0.05 + 0.2));
	assert_true(l[0].n_above == 1.1f && l[0].n == 1.5f && l[0].n_below == 1.0f);
	assert_true(l[1].n_above == 1.5f && l[1].n == 1.0f && l[1].n_below == 1.4f);
	assert_true(l[2].n_above == 1.0f && l[2].n == 1.4f && l[2].n_below == 1.2f);
	assert_true(l[0].first == 0.0f && l[2].last == l[2].bottom);
	assert_true(l[0].last < l[0].bottom && l[1].first > l[1].top && l[1].last < l[1].bottom);
	assert_true(l[0].absorb == 0.1f && l[1].absorb == 0.0f && l[2].absorb == 0.05f);
}

/* Inside a layer the depth decides; on a boundary, the layer that the particle flies into. */
TEST(depth_and_direction_determine_the_layer)
{
	struct sl_slab r = slab_rules(slab_stack);
	const struct sl_slab_layer *l = r.layer;

	for (uint32_t i = 0; i < 3; i++)
		for (int k = -1; k <= 1; k++) {
			assert_int_equal(i, sl_slab_layer_at(&r, l[i].first, (float)k));
			assert_int_equal(i, sl_slab_layer_at(&r, l[i].last, (float)k));
			assert_int_equal(k < 0 && i > 0 ? i - 1 : i,
				sl_slab_layer_at(&r, l[i].top, (float)k));
			assert_int_equal(k < 0 || i == 2 ? i : i + 1,
				sl_slab_layer_at(&r, l[i].bottom, (float)k));
		}
}

/* Flights across the middle of a layer have its mean free path, n, absorption and scattering. */
TEST(each_layer_has_its_medium)
{
	struct sl_slab r = slab_rules(slab_stack);

	for (int k = 0; k < 200; k++) {
		int i = k % 2 ? 0 : 2;
		double mu_t = slab_stack.mu_a.at[i] + slab_stack.mu_s.at[i];
		const struct sl_particle p = {
			.id = (uint64_t)k, .u = 1, .z = i ? 0.25f : 0.05f, .weight = 1};
		struct sl_words random = sl_draw(3, p.id, 1);
		double way = -log((double)sl_uniform(random.at[0])) / mu_t;
		double cosine = (double)scatter(slab_stack.g.at[i], sl_uniform(random.at[2]));
		struct sl_particle q = p;

		sl_slab_advance(&r, SL_EVERY_COLUMN, 3, &q, 1);
		assert_true(fabs((double)q.x - way) < 1e-5 * way);
		assert_true(
			fabs((double)q.time - way * slab_stack.n.at[i] / 29.9792458) < 1e-6 * way);
		assert_int_equal((double)sl_uniform(random.at[1]) <= slab_stack.mu_a.at[i] / mu_t
					 ? SL_FATE_absorbed
					 : SL_FATE_alive,
			q.fate);
		assert_true(
			q.fate != SL_FATE_alive || fabs(cosine_between(&p, &q) - cosine) < 1e-6);
	}
}

/* Between the first two layers, of n = 1.5 and 1, and back. */
TEST(boundaries_reflect_or_refract)
{
	struct sl_slab r = slab_rules(slab_stack);
	const struct sl_particle down = {.u = 0.6f, .w = 0.8f, .z = 0.05f};
	struct sl_particle p = down, q;
	float t;

	assert_int_equal(0, slab_cross_boundary(&r, 0, &p, 0x1p-33f));
	assert_true(p.z == 0.1f && p.w == -0.8f && p.u == 0.6f);
	p = down;
	assert_int_equal(1, slab_cross_boundary(&r, 0, &p, 1.0f));
	assert_true(p.z == 0.1f && p.fate == SL_FATE_alive && fabsf(p.u - 0.9f) < 1e-6f);
	assert_true(
		fabs((double)p.w - sqrt(1 - 0.81)) < 1e-6 && sl_slab_layer_at(&r, p.z, p.w) == 1);
	assert_true(fabs((double)p.time - 1.5 * 0.0625 / 29.9792458) < 1e-9);
	q = p; /* the reversed path */
	q.w = -q.w;
	q.z = 0.12f;
	q.time = 0;
	assert_int_equal(0, slab_cross_boundary(&r, 1, &q, 1.0f));
	assert_true(q.z == 0.1f && fabsf(q.w + 0.8f) < 1e-6f && fabsf(q.u - 0.6f) < 1e-6f);
	assert_true(fabs((double)q.time - 0.02 / (double)p.w / 29.9792458) < 1e-9);
	/* the probability is the Fresnel reflectance of the two media */
	p = q = down;
	slab_cross_boundary(&r, 0, &p, sl_fresnel(1.5f, 1.0f, 0.8f, &t));
	slab_cross_boundary(&r, 0, &q, nextafterf(sl_fresnel(1.5f, 1.0f, 0.8f, &t), 1.0f));
	assert_true(p.w < 0.0f && q.w > 0.0f);
	/* total reflection for any random number */
	p = (struct sl_particle){.u = 0.8f, .w = 0.6f, .z = 0.0999f};
	assert_int_equal(0, slab_cross_boundary(&r, 0, &p, 1.0f));
	assert_true(p.w == -0.6f && p.u == 0.8f && p.z == 0.1f);
	/* transmission through the last boundary */
	p = (struct sl_particle){.w = 1.0f, .z = 0.3f};
	slab_cross_boundary(&r, 2, &p, 1.0f);
	assert_true(p.fate == SL_FATE_transmitted && p.z == slab_thickness(&r));
}

/* Parallel to a boundary, or almost: a flight that rounding makes 0 does not change the layer. */
TEST(grazing_flights_keep_their_layer)
{
	const float cosines[] = {1e-12f, -1e-12f, 0x1p-149f, -0x1p-149f, 1e-7f, -1e-7f};
	struct sl_slab_config c = slab_stack;
	struct sl_slab r;

	c.mu_s.at[1] = 1000;
	r = slab_rules(c);
	for (int i = 0; i < 6; i++)
		for (uint64_t id = 0; id < 2000; id++) {
			struct sl_particle p = {.id = id, .u = 1, .w = cosines[i], .weight = 1};
			uint32_t layer;

			p.z = r.layer[1].top;
			layer = sl_slab_layer_at(&r, p.z, p.w);
			assert_int_equal(p.w < 0.0f ? 0 : 1, layer);
			sl_slab_advance(&r, SL_EVERY_COLUMN, 3, &p, 1);
			assert_int_equal(layer, sl_slab_layer_at(&r, p.z, p.w));
			assert_true(p.collisions == 0 || p.z != r.layer[1].top);
		}
}

/* Glass over a perfect absorber of n = 1: both faces together reflect 2 R/(1 + R). */
TEST(clear_layers_do_not_scatter)
{
	const struct sl_slab_config glass = {.mu_a = {2, {0, 1e9}},
		.mu_s = ONE(0),
		.g = ONE(0),
		.thickness = {2, {0.1, HUGE_VAL}},
		.n = {2, {1.5, 1}},
		.n_above = 1,
		.n_below = 1};
	struct sl_slab r = slab_rules(glass);
	const double want = 2 * 0.04 / 1.04;
	enum { N = 200000 };
	int back = 0;

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id);

		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, UINT32_MAX);
		assert_true(p.u == 0.0f && p.v == 0.0f && p.x == 0.0f);
		assert_true(p.fate == SL_FATE_reflected ? p.collisions == 0 : p.z >= 0.1f);
		back += p.fate == SL_FATE_reflected;
	}
	assert_true(fabs(back / (double)N - want) < 4 * sqrt(want * (1 - want) / N));
	for (uint64_t word = 0; word <= UINT32_MAX; word += 9973) {
		float u = sl_uniform((uint32_t)word);

		assert_true(sl_henyey_greenstein(r.layer[0].g, r.layer[0].g_plus_1_squared_2, u) >
			    0.999999f);
	}
}

TEST(bad_layers_are_refused)
{
	struct sl_slab_config c = slab_stack;

	c.mu_s.n = 2;
	c.n.n = 0;
	slab_expect_messages(c, "",
		"mu_s: has 2 values where mu_a has 3: each layer needs one; give one per layer, or one for all\n"
		"n: has 0 values where mu_a has 3: each layer needs one; give one per layer, or one for all\n");
	c = slab_plain;
	c.g.n = SL_SLAB_LAYERS_MAX + 1;
	slab_expect_messages(c, "", "g: has 17 values: a slab has at most 16 layers; give fewer\n");
	c = slab_stack;
	c.thickness.at[1] = HUGE_VAL;
	slab_expect_messages(c, "",
		"mu_a[1]: mu_a + mu_s is 0 in a layer without end: a flight would never end; set one of them above 0, or give a finite thickness\n"
		"thickness[1]: is infinite for layer 2 of 3: only the last layer can be; give a finite value\n");
	c = slab_stack;
	c.thickness = (struct sl_reals)ONE(HUGE_VAL);
	c.mu_a.at[1] = 1e-31;
	slab_expect_messages(c, "",
		"mu_a[1]: mu_a + mu_s is 1e-31 /cm: flights would leave single precision; make it at least 1e-30 /cm\n"
		"thickness: is infinite for layer 1 of 3: only the last layer can be; give a finite value\n"
		"thickness: is infinite for layer 2 of 3: only the last layer can be; give a finite value\n");
	c = slab_stack;
	c.thickness.at[1] = 1e-6;
	slab_expect_messages(c, "",
		"thickness[1]: is too thin at a depth of 0.1 cm: positions have 24 significant bits; make it at least 1.5e-06 cm\n");
}
