/* slab.c - tests the model slab on edge cases: at surfaces and at the limits of ranges. */
#include "tests/support/models/slab_check.h"

/* --- the start -------------------------------------------------------------------------------- */

TEST(normal_incidence_is_along_the_axis)
{
	struct sl_slab r = slab_rules(slab_plain);
	struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, 7);

	assert_true(p.id == 7 && p.weight == 1.0f && p.fate == SL_FATE_alive);
	assert_true(p.x == 0.0f && p.y == 0.0f && p.z == 0.0f && p.time == 0.0f);
	assert_true(p.u == 0.0f && p.v == 0.0f && p.w == 1.0f);
}

TEST(angled_incidence_is_refracted)
{
	struct sl_slab_config c = slab_plain;
	int inside = 0, reflected = 0;
	struct sl_slab r;

	c.incidence = SL_SLAB_ANGLE;
	c.angle = 0.5;
	c.n.at[0] = 1.5;
	r = slab_rules(c);
	for (uint64_t id = 0; id < 100000; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id);
		bool in = p.fate == SL_FATE_alive;

		assert_true(in ? p.w > 0.0f : p.fate == SL_FATE_reflected && p.w < 0.0f);
		assert_true(fabs((double)p.u - sin(0.5) / (in ? 1.5 : 1)) < 1e-7);
		assert_true(p.v == 0.0f && p.z == 0.0f && p.steps == 0);
		assert_true(fabs(excess_length(&p)) < 1e-6);
		inside += in;
		reflected += !in;
	}
	assert_true(fabs(reflected / 1e5 - want_fresnel(1, 1.5, cos(0.5))) < 4 * sqrt(0.04 / 1e5));
	assert_int_equal(100000, inside + reflected);
}

TEST(all_is_reflected_at_entry_beyond_the_critical_angle)
{
	struct sl_slab_config c = slab_plain;
	struct sl_slab r;

	c.incidence = SL_SLAB_ANGLE;
	c.angle = 0.8;
	c.n_above = 1.5;
	r = slab_rules(c);
	for (uint64_t id = 0; id < 10000; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id), q = p;

		assert_true(p.fate == SL_FATE_reflected && p.w < 0.0f && p.z == 0.0f);
		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, 100);
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

/* Lambertian: mean cosine 2/3, mean square 1/2; directions near the normal are not discrete. */
TEST(diffuse_incidence_is_lambertian)
{
	struct sl_slab_config c = slab_plain;
	double sum = 0, square = 0, across = 0;
	enum { N = 1000000 };
	struct sl_slab r;

	c.incidence = SL_SLAB_DIFFUSE;
	r = slab_rules(c);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id);
		double word = sl_draw(1, id, 0).at[1], sine2 = 1 - (word + 0.5) * 0x1p-32;
		double u = (double)p.u, v = (double)p.v, w = (double)p.w;

		assert_true(p.w > 0.0f && fabs(excess_length(&p)) < 1e-6);
		assert_true(fabs(u * u + v * v - sine2) < 1e-6 * sine2);
		sum += w;
		square += w * w;
		across += u + v;
	}
	assert_true(fabs(sum / N - 2.0 / 3) < 4 * sqrt(1.0 / 18 / N));
	assert_true(fabs(square / N - 0.5) < 4 * sqrt(1.0 / 12 / N));
	assert_true(fabs(across / N) < 4 * sqrt(0.5 / N));
}

/* --- steps ------------------------------------------------------------------------------------ */

TEST(surfaces_reflect_or_transmit)
{
	struct sl_slab_config c = slab_plain;
	struct sl_particle up = {.u = 0.6f, .w = -0.8f}, p = up;
	struct sl_slab r;

	c.n.at[0] = c.n_above = 1.5;
	r = slab_rules(c);
	slab_cross_boundary(&r, 0, &p, 0x1p-33f); /* matched: always out */
	assert_true(p.fate == SL_FATE_reflected && p.z == 0.0f);
	assert_true(fabsf(p.w + 0.8f) < 1e-6f && fabsf(p.u - 0.6f) < 1e-6f);
	c.n_above = 1;
	r = slab_rules(c);
	p = up;
	slab_cross_boundary(&r, 0, &p, 0x1p-33f); /* the least reflects */
	assert_true(p.fate == SL_FATE_alive && p.w == 0.8f && p.u == 0.6f && p.z == 0.0f);
	p = up;
	p.z = 0.4f;
	slab_cross_boundary(&r, 0, &p, 1.0f);
	assert_true(p.fate == SL_FATE_reflected && p.w < 0.0f && fabsf(p.u - 0.9f) < 1e-6f);
	assert_true(p.z == 0.0f && fabsf(p.x - 0.3f) < 1e-6f);
	p = (struct sl_particle){.u = 0.8f, .w = 0.6f}; /* beyond the critical angle: never out */
	slab_cross_boundary(&r, 0, &p, 1.0f);
	assert_true(p.fate == SL_FATE_alive && p.w == -0.6f && p.z == 1.0f);
}

static void check_weight(const struct sl_slab *r, const struct sl_particle *p)
{
	if (r->below > 0.0f) {
		assert_true(p->weight <= 1.0f && p->fate != SL_FATE_absorbed);
		assert_true(p->weight > 0.0f || p->fate == SL_FATE_roulette);
		assert_true(p->fate != SL_FATE_roulette || p->weight == 0.0f);
	} else {
		assert_true(p->weight == 1.0f && p->fate != SL_FATE_roulette);
	}
}

static void check_place(const struct sl_slab *r, const struct sl_particle *p)
{
	assert_true(is_finite(p) && fabs(excess_length(p)) < 1e-5);
	assert_true(p->z >= 0.0f && p->z <= slab_thickness(r) && p->time >= 0.0f);
	assert_true(p->collisions <= p->steps && p->steps <= r->max_steps);
	check_weight(r, p);
	if (p->fate == SL_FATE_reflected)
		assert_true(p->z == 0.0f && p->w < 0.0f);
	if (p->fate == SL_FATE_transmitted)
		assert_true(p->z == slab_thickness(r) && p->w > 0.0f);
	if (p->fate == SL_FATE_absorbed || p->fate == SL_FATE_roulette)
		assert_true(p->collisions > 0);
	if (p->fate == SL_FATE_max_steps)
		assert_true(p->steps == r->max_steps);
}

/* p stays in the slab at each step; all steps at once give the same end. */
static void check_history(const struct sl_slab *r, uint64_t id)
{
	struct sl_particle p = sl_slab_generate(r, SL_EVERY_COLUMN, 9, id), at_once = p, in_two = p;
	uint32_t n = 0;

	for (; p.fate == SL_FATE_alive; n++) {
		sl_slab_advance(r, SL_EVERY_COLUMN, 9, &p, 1);
		check_place(r, &p);
		assert_int_equal(n + 1, p.steps);
	}
	assert_true(SL_HAS(SL_FATES_slab, p.fate));
	sl_slab_advance(r, SL_EVERY_COLUMN, 9, &at_once, UINT32_MAX);
	sl_slab_advance(r, SL_EVERY_COLUMN, 9, &in_two, n / 2);
	sl_slab_advance(r, SL_EVERY_COLUMN, 9, &in_two, n - n / 2);
	assert_memory_equal(&p, &at_once, sizeof(p));
	assert_memory_equal(&p, &in_two, sizeof(p));
}

static struct sl_slab_config ended_by(struct sl_slab_config c, double thickness, int incidence)
{
	c.thickness.at[c.thickness.n - 1] = thickness;
	c.incidence = incidence;
	c.angle = 0.8;
	return c;
}

TEST(particles_stay_in_the_slab)
{
	const struct sl_slab_config slabs[] = {
		slab_plain,
		slab_of_one(10, 90, 0.75, 0.02, 1, 1, 1, 0, 0),
		slab_of_one(0, 1, 0, HUGE_VAL, 1.5, 1, 1, 0, SL_SLAB_DIFFUSE),
		slab_of_one(0, 1e30, 0.999, 1e-30, 10, 0.1, 0.1, 0, 0),
		slab_of_one(0, 1e-30, -0.999, HUGE_VAL, 1, 1, 1, 0, 0),
		slab_of_one(1e-30, 1e30, 0, 1e-28, 0.1, 10, 10, 1.57, SL_SLAB_ANGLE),
		slab_of_one(1e30, 1e-30, 0.5, 1, 1.33, 1, 1.5, 1.57, SL_SLAB_ANGLE),
		slab_of_one(0, 1, -0.9, 1e30, 1.33, 1.5, 1, 0, SL_SLAB_DIFFUSE),
		slab_of_one(0.01, 1, 0.9, 5, 2.4, 1, 1.33, 1, SL_SLAB_ANGLE),
		slab_of_one(7, 0, 0.9, 1, 2.4, 1, 1.33, 1, SL_SLAB_ANGLE),
		slab_stack,
		ended_by(slab_stack, HUGE_VAL, SL_SLAB_DIFFUSE),
		ended_by(slab_stack, 0.1501 * 0x1p-16, SL_SLAB_ANGLE),
		ended_by(slab_stack, 1e30, SL_SLAB_ANGLE),
	};

	for (size_t i = 0; i < sizeof(slabs) / sizeof(slabs[0]); i++)
		for (int k = 0; k < 2; k++) {
			struct sl_slab r = slab_rules(k ? slab_implicit(slabs[i]) : slabs[i]);

			for (uint64_t id = 0; id < 1000; id++)
				check_history(&r, id);
		}
}

/* Flights from either surface, parallel to it or almost. */
TEST(grazing_flights)
{
	const float cosines[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 0x1p-149f, -0x1p-149f, 1.0f, -1.0f};
	const float thicknesses[] = {1e-30f, 1.0f, 1e30f, HUGE_VALF};
	struct sl_slab r = slab_rules(slab_plain);

	for (int i = 0; i < 8 * 4 * 2; i++)
		for (uint64_t id = 0; id < 200; id++) {
			float w = cosines[i / 8], depth = thicknesses[i % 8 / 2];
			struct sl_particle p = {
				.id = id, .u = 1.0f - fabsf(w), .w = w, .weight = 1};

			r.layer[0].bottom = r.layer[0].last = depth;
			p.z = i % 2 && depth < HUGE_VALF ? depth : 0.0f;
			while (p.fate == SL_FATE_alive) {
				sl_slab_advance(&r, SL_EVERY_COLUMN, 3, &p, 1);
				check_place(&r, &p);
			}
		}
}

/* In a half-space: the first flight's length is exponential, and from block 1 (0 is the start). */
TEST(flights_are_exponential)
{
	struct sl_slab_config c = slab_plain;
	double sum = 0, square = 0, absorbed = 0;
	enum { N = 1000000 };
	struct sl_slab r;

	c.thickness.at[0] = HUGE_VAL;
	r = slab_rules(c);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id);
		double z;

		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, 1);
		assert_true(p.z == -r.layer[0].mean_free_path *
					   sl_log(sl_uniform(sl_draw(1, id, 1).at[0])));
		z = (double)p.z * 10;
		sum += z;
		square += z * z;
		absorbed += p.fate == SL_FATE_absorbed;
		assert_true(fabs((double)p.time - (double)p.z / 29.9792458) < 1e-9 * (1 + z));
	}
	assert_true(fabs(sum / N - 1) < 4 * sqrt(1.0 / N));
	assert_true(fabs(square / N - 2) < 4 * sqrt(20.0 / N));
	assert_true(fabs(absorbed / N - 0.1) < 4 * sqrt(0.09 / N));
}

TEST(max_steps_ends_a_history)
{
	struct sl_slab_config c = slab_plain;
	struct sl_slab r;

	c.mu_a.at[0] = 0;
	c.thickness.at[0] = 1e6;
	r = slab_rules(c);
	for (uint32_t most = 1; most < 6; most++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, 0);

		r.max_steps = most;
		p.z = 5e5f;
		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, UINT32_MAX);
		assert_int_equal(SL_FATE_max_steps, p.fate);
		assert_int_equal(most, p.steps);
		assert_int_equal(most, p.collisions);
	}
}

/* --- the configuration ------------------------------------------------------------------------ */

TEST(bad_configurations_are_refused)
{
	struct sl_slab_config nothing = slab_plain, little = slab_plain, angled = slab_plain;

	nothing.mu_a.at[0] = nothing.mu_s.at[0] = 0;
	slab_expect_messages(nothing, "", "");
	nothing.thickness.at[0] = HUGE_VAL;
	little.mu_a.at[0] = little.mu_s.at[0] = 1e-31;
	angled.incidence = SL_SLAB_ANGLE;
	slab_expect_messages(slab_plain, "", "");
	slab_expect_messages(nothing, "",
		"mu_a: mu_a + mu_s is 0 in a layer without end: a flight would never end; set one of them above 0, or give a finite thickness\n");
	slab_expect_messages(little, "",
		"mu_a: mu_a + mu_s is 2e-31 /cm: flights would leave single precision; make it at least 1e-30 /cm\n");
	slab_expect_messages(angled, " angle ", "");
	slab_expect_messages(angled, "", "angle: is missing: incidence: angle needs it; add it\n");
	slab_expect_messages(slab_plain, " angle ",
		"angle: has no effect here: only incidence: angle uses it; remove it or choose that\n");
}

TEST(ranges_and_constants)
{
	struct sl_slab_config c = slab_plain;
	struct sl_slab r = slab_rules(c);
	struct sl_particle values = {0};
	double lo, hi;

	assert_true(sl_slab_model.range(&r, SL_COLUMN_w, &lo, &hi) && lo == -1 && hi == 1);
	assert_true(sl_slab_model.range(&r, SL_COLUMN_z, &lo, &hi) && lo == 0 && hi == 1);
	assert_true(sl_slab_model.range(&r, SL_COLUMN_steps, &lo, &hi) && lo == 0 && hi == 1000);
	assert_false(sl_slab_model.range(&r, SL_COLUMN_x, &lo, &hi));
	assert_false(sl_slab_model.range(&r, SL_COLUMN_pixel, &lo, &hi));
	assert_int_equal(SL_BIT(SL_COLUMN_weight), sl_slab_model.constants(&r, &values));
	assert_true(values.weight == 1.0f);
	assert_true(sl_slab_model.range(&r, SL_COLUMN_fate, &lo, &hi) && hi == SL_FATE_max_steps);
	r = slab_rules(slab_implicit(c));
	assert_true(sl_slab_model.range(&r, SL_COLUMN_fate, &lo, &hi) && hi == SL_FATE_roulette);
	assert_int_equal(0, sl_slab_model.constants(&r, &values));
	r = slab_rules(slab_stack);
	assert_true(sl_slab_model.range(&r, SL_COLUMN_z, &lo, &hi) && fabs(hi - 0.35) < 1e-7);
	c.thickness.at[0] = HUGE_VAL;
	r = slab_rules(c);
	assert_false(sl_slab_model.range(&r, SL_COLUMN_z, &lo, &hi));
}
