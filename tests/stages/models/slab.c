/*
 * stages/models/slab.c - the rules of the slab on hard values: at surfaces, poles and ends of
 * ranges, against the formulas in double.
 */
#define SL_MODEL_HOST
#include "tests/support/check.h"
#include "tests/support/model_check.h"

#include "stages/models/slab.h"

static const struct sl_model *const model = &sl_slab_model;
static const struct sl_common common = {.max_steps = 1000};

/* The rules of a configuration that has nothing wrong. */
static struct sl_slab rules_of(struct sl_slab_config c)
{
	struct model_check m;
	struct sl_slab r;

	memset(&r, 0, sizeof(r));
	model_check_begin(&m, c.incidence == SL_INCIDENCE_ANGLE ? " angle " : "");
	model->make(&c, &common, &r, &m.check);
	assert_string_equal("", m.said);
	return r;
}

/* A list of one: the value of the only layer, or of all. */
#define ONE(value)            \
	{                     \
		1,            \
		{             \
			value \
		}             \
	}

static const struct sl_slab_config plain = {.mu_a = ONE(1),
	.mu_s = ONE(9),
	.g = ONE(0.5),
	.thickness = ONE(1),
	.n = ONE(1),
	.n_above = 1,
	.n_below = 1,
	.roulette = {1e-4, 0.1}};

/* Three layers, of which the first refracts most and the second is clear. */
static const struct sl_slab_config stack = {.mu_a = {3, {1, 0, 2}},
	.mu_s = {3, {9, 0, 38}},
	.g = {3, {0.5, 0.9, 0}},
	.thickness = {3, {0.1, 0.05, 0.2}},
	.n = {3, {1.5, 1, 1.4}},
	.n_above = 1.1,
	.n_below = 1.2,
	.roulette = {1e-4, 0.1}};

static struct sl_slab_config implicit(struct sl_slab_config c)
{
	c.absorption = SL_ABSORPTION_IMPLICIT;
	return c;
}

/* --- Fresnel and Snell ------------------------------------------------------------------------ */

static double want_fresnel(double n, double m, double c)
{
	double sine = n / m * sqrt(1 - c * c), t = sqrt(1 - sine * sine), s, p;

	if (sine >= 1)
		return 1;
	s = (n * c - m * t) / (n * c + m * t);
	p = (n * t - m * c) / (n * t + m * c);
	return (s * s + p * p) / 2;
}

static double fresnel(double n, double m, double c)
{
	float t;

	return (double)sl_fresnel((float)n, (float)m, (float)c, &t);
}

static void fresnel_known_values(void **state)
{
	const double brewster = cos(atan(1.5));

	(void)state;
	assert_true(fresnel(1.5, 1.5, 0.3) == 0);
	assert_true(fabs(fresnel(1, 1.5, 1) - 0.04) < 1e-8);
	assert_true(fabs(fresnel(1.5, 1, 1) - 0.04) < 1e-8);
	assert_true(fabs(fresnel(1, 1.33, 1) - 0.0200593) < 1e-7);
	/* at Brewster's angle p is gone: half of s = ((m^2 - n^2) / (m^2 + n^2))^2 */
	assert_true(fabs(fresnel(1, 1.5, brewster) - 0.5 * pow(1.25 / 3.25, 2)) < 1e-7);
	assert_true(fabs(fresnel(1, 1.5, 1e-6) - 1) < 1e-4);
	assert_true(fresnel(1, 1.5, 0) == 1);
	assert_true(fresnel(0.1, 10, 0) == 1);
	assert_true(fresnel(1.5, 1, 0) == 1);
}

/* A direction may be an ulp too long: then 1 - c^2 is below 0. */
static void fresnel_beyond_a_cosine_of_1(void **state)
{
	float t;

	(void)state;
	assert_true(fabs(fresnel(1, 1.5, 1 + 0x1p-22) - 0.04) < 1e-6);
	sl_fresnel(1.5f, 1.0f, 1 + 0x1p-22f, &t);
	assert_true(t >= 1.0f && t < 1.000001f);
}

static void fresnel_about_the_critical_angle(void **state)
{
	const double critical = sqrt(1 - 1 / 2.25);
	float t;

	(void)state;
	for (int i = 1; i < 1000; i++) {
		assert_true(sl_fresnel(1.5f, 1.0f, (float)(critical - 1e-6 * i), &t) == 1.0f);
		assert_true(t == 0.0f);
		assert_true(sl_fresnel(1.5f, 1.0f, (float)(critical + 1e-6 * i), &t) < 1.0f);
		assert_true(t > 0.0f);
	}
}

static void fresnel_against_double(void **state)
{
	const double indices[] = {0.1, 0.5, 0.99, 1, 1.000001, 1.33, 1.5, 2.4, 10};
	const int n = sizeof(indices) / sizeof(indices[0]);
	double worst = 0;

	(void)state;
	for (int i = 0; i < n * n; i++)
		for (int k = 0; k <= 1000; k++) {
			float a = (float)indices[i / n], b = (float)indices[i % n], t;
			float c = (float)k / 1000, got = sl_fresnel(a, b, c, &t);
			double want =
				i / n == i % n ? 0 : want_fresnel((double)a, (double)b, (double)c);
			/* near the critical angle the share leaves 1 as a square root does */
			double error = fabs((double)got - want) * fmax((double)t, 1e-3);

			assert_true(got >= 0.0f && got <= 1.000001f);
			worst = fmax(worst, error);
		}
	print_message("share reflected: error %.2g\n", worst);
	assert_true(worst < 5e-6);
}

/* The way back reflects as much as the way there. */
static void fresnel_is_reciprocal(void **state)
{
	(void)state;
	for (int k = 1; k <= 1000; k++) {
		float c = (float)k / 1000, t, back;
		float there = sl_fresnel(1.0f, 1.5f, c, &t),
		      again = sl_fresnel(1.5f, 1.0f, t, &back);

		assert_true(fabsf(there - again) * c < 1e-6f);
		assert_true(fabsf(c - back) * c < 1e-6f);
	}
}

static void refraction_obeys_snell(void **state)
{
	(void)state;
	for (int k = 0; k < 2000; k++) {
		float a = k % 2 ? 1.0f : 1.5f, b = k % 2 ? 1.5f : 1.0f, t;
		double w = 1 - 0.25 * k / 2000, s = sqrt(1 - w * w), turn = 0.1 * k;
		struct sl_particle p = {.u = (float)(s * cos(turn)),
			.v = (float)(s * sin(turn)),
			.w = (float)(k % 3 ? w : -w)};
		struct sl_particle q = p;

		sl_fresnel(a, b, fabsf(p.w), &t);
		sl_refract(&q, a / b, t);
		assert_true(fabs(excess_length(&q)) < 2e-6);
		assert_true(fabsf(b * q.u - a * p.u) < 1e-6f && fabsf(b * q.v - a * p.v) < 1e-6f);
		assert_true(q.w * p.w > 0.0f);
	}
}

/* --- scattering ------------------------------------------------------------------------------- */

static float scatter(double g, float uniform)
{
	return sl_henyey_greenstein((float)g, (float)(2 * (1 + g) * (1 + g)), uniform);
}

/* The textbook's inverse: (1 + g^2 - ((1 - g^2) / (1 - g + 2 g u))^2) / 2 g. */
static double want_scatter(double g, double u)
{
	double q = (1 - g * g) / (1 - g + 2 * g * u);

	return (1 + g * g - q * q) / (2 * g);
}

/* How far the cosine is off, in last places of u: where g is near 1 or -1 it is steep. */
static double scatter_error(double g, float u, float c)
{
	double s = 1 - g + 2 * g * (double)u, slope = 2 * pow((1 - g * g) / s, 2) / s;

	return fabs((double)c - want_scatter(g, (double)u)) / (slope + 2) * 0x1p24;
}

static void isotropic_scattering_is_exact(void **state)
{
	(void)state;
	for (uint64_t word = 0; word <= UINT32_MAX; word += 9973) {
		float u = sl_uniform((uint32_t)word);

		assert_true(scatter(0, u) == fmaf(2.0f, u, -1.0f));
	}
}

static void scattering_has_its_ends(void **state)
{
	const double g[] = {-0.999, -0.9, -1e-7, 0, 1e-30, 1e-7, 0.75, 0.9, 0.999};

	(void)state;
	for (size_t i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		assert_true(fabsf(scatter(g[i], 0x1p-33f) + 1.0f) < 3e-4f);
		assert_true(fabsf(scatter(g[i], 1.0f) - 1.0f) < 3e-4f);
		for (uint64_t word = 0; word <= UINT32_MAX; word += 99991) {
			float c = scatter(g[i], sl_uniform((uint32_t)word));

			assert_true(c >= -1.0f && c <= 1.0f);
		}
	}
}

static void scattering_has_its_mean_and_law(void **state)
{
	const double g[] = {-0.999, -0.9, -0.3, 0.1, 0.75, 0.9, 0.99, 0.999};
	enum { N = 1 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		double sum = 0, worst = 0;

		for (int k = 0; k < N; k++) {
			float u = ((float)k + 0.5f) / N, c = scatter(g[i], u);

			sum += (double)c;
			worst = fmax(worst, scatter_error(g[i], u, c));
		}
		print_message(
			"g %6.3f: mean %+.1e, cosine within %.1f\n", g[i], sum / N - g[i], worst);
		assert_true(fabs(sum / N - g[i]) < 1e-6);
		assert_true(worst < 8);
	}
}

static double dot(const struct sl_particle *a, const struct sl_particle *b)
{
	return (double)a->u * (double)b->u + (double)a->v * (double)b->v +
	       (double)a->w * (double)b->w;
}

static void a_million_turns_keep_the_length(void **state)
{
	struct sl_particle p = {.w = 1};
	double longest = 0, worst = 0;

	(void)state;
	for (uint64_t k = 0; k < 1000000; k++) {
		struct sl_words random = sl_draw(5, 0, k);
		struct sl_particle old = p;
		float c = scatter(k % 2 ? 0.9 : -0.5, sl_uniform(random.at[0]));

		sl_turn(&p, c, 2.0f * sl_uniform(random.at[1]));
		longest = fmax(longest, fabs(excess_length(&p)));
		worst = fmax(worst, fabs(dot(&p, &old) - (double)c));
	}
	print_message("|direction|^2 within %.2g of 1, cosines within %.2g\n", longest, worst);
	assert_true(longest < 4 * 0x1p-23);
	assert_true(worst < 8 * 0x1p-24);
}

/* An error of the length does not stay: Newton's step takes its square. */
static void a_turn_mends_the_length(void **state)
{
	struct sl_particle p = {.u = 0.6001f, .w = -0.8001f};

	(void)state;
	sl_turn(&p, 0.5f, 0.3f);
	assert_true(fabs(excess_length(&p)) < 1e-6);
}

static const struct sl_particle poles[] = {{.w = 1}, {.w = -1}, {.u = 1}, {.v = -1},
	{.u = 1, .w = -0.0f}, {.u = -1, .w = 0x1p-149f}, {.v = 1, .w = -0x1p-149f},
	{.u = 0x1.6a09e6p-12f, .w = -0x1.fffffep-1f}, {.u = 0x1.6a09e6p-12f, .w = 0x1.fffffep-1f},
	{.v = 1e-20f, .w = -1}};

/* c = 1 goes on, c = -1 turns back, and a full circle of azimuths has its mean along the old. */
static void turns_at_the_poles(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(poles) / sizeof(poles[0]); i++) {
		struct sl_particle p = poles[i];
		double u = 0, v = 0, w = 0;

		sl_turn(&p, 1.0f, 0.7f);
		assert_true(fabs(dot(&p, &poles[i]) - 1) < 1e-6);
		sl_turn(&p, -1.0f, 1.3f);
		assert_true(fabs(dot(&p, &poles[i]) + 1) < 1e-6);
		for (int k = 0; k < 1000; k++) {
			p = poles[i];
			sl_turn(&p, 0.25f, (float)k / 500);
			assert_true(fabs(excess_length(&p)) < 1e-6);
			assert_true(fabs(dot(&p, &poles[i]) - 0.25) < 1e-6);
			u += (double)p.u / 1000;
			v += (double)p.v / 1000;
			w += (double)p.w / 1000;
		}
		assert_true(fabs(u - 0.25 * (double)poles[i].u) < 1e-6);
		assert_true(fabs(v - 0.25 * (double)poles[i].v) < 1e-6);
		assert_true(fabs(w - 0.25 * (double)poles[i].w) < 1e-6);
	}
}

/* --- the start -------------------------------------------------------------------------------- */

static void normal_incidence_is_along_the_axis(void **state)
{
	struct sl_slab r = rules_of(plain);
	struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, 7);

	(void)state;
	assert_true(p.id == 7 && p.weight == 1.0f && p.fate == SL_FATE_alive);
	assert_true(p.x == 0.0f && p.y == 0.0f && p.z == 0.0f && p.time == 0.0f);
	assert_true(p.u == 0.0f && p.v == 0.0f && p.w == 1.0f);
}

static void angled_incidence_is_refracted(void **state)
{
	struct sl_slab_config c = plain;
	int inside = 0, reflected = 0;
	struct sl_slab r;

	(void)state;
	c.incidence = SL_INCIDENCE_ANGLE;
	c.angle = 0.5;
	c.n.at[0] = 1.5;
	r = rules_of(c);
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

static void all_is_reflected_at_entry_beyond_the_critical_angle(void **state)
{
	struct sl_slab_config c = plain;
	struct sl_slab r;

	(void)state;
	c.incidence = SL_INCIDENCE_ANGLE;
	c.angle = 0.8;
	c.n_above = 1.5;
	r = rules_of(c);
	for (uint64_t id = 0; id < 10000; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id), q = p;

		assert_true(p.fate == SL_FATE_reflected && p.w < 0.0f && p.z == 0.0f);
		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, 100);
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

/* Lambertian: mean cosine 2/3, mean square 1/2; sines near the normal are not on rings. */
static void diffuse_incidence_is_lambertian(void **state)
{
	struct sl_slab_config c = plain;
	double sum = 0, square = 0, across = 0;
	enum { N = 1000000 };
	struct sl_slab r;

	(void)state;
	c.incidence = SL_INCIDENCE_DIFFUSE;
	r = rules_of(c);
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

/* p, at that depth, comes to the upper or lower end of layer i: where is it then? */
static uint32_t meet(const struct sl_slab *r, uint32_t i, struct sl_particle *p, float uniform)
{
	return sl_slab_surface(r, r->layers, i, p, p->w < 0.0f, uniform);
}

static void surfaces_reflect_or_let_out(void **state)
{
	struct sl_slab_config c = plain;
	struct sl_particle up = {.u = 0.6f, .w = -0.8f}, p = up;
	struct sl_slab r;

	(void)state;
	c.n.at[0] = c.n_above = 1.5;
	r = rules_of(c);
	meet(&r, 0, &p, 0x1p-33f); /* matched: always out */
	assert_true(p.fate == SL_FATE_reflected && p.z == 0.0f);
	assert_true(fabsf(p.w + 0.8f) < 1e-6f && fabsf(p.u - 0.6f) < 1e-6f);
	c.n_above = 1;
	r = rules_of(c);
	p = up;
	meet(&r, 0, &p, 0x1p-33f); /* the least reflects */
	assert_true(p.fate == SL_FATE_alive && p.w == 0.8f && p.u == 0.6f && p.z == 0.0f);
	p = up;
	p.z = 0.4f;
	meet(&r, 0, &p, 1.0f);
	assert_true(p.fate == SL_FATE_reflected && p.w < 0.0f && fabsf(p.u - 0.9f) < 1e-6f);
	assert_true(p.z == 0.0f && fabsf(p.x - 0.3f) < 1e-6f);
	p = (struct sl_particle){.u = 0.8f, .w = 0.6f}; /* beyond the critical angle: never out */
	meet(&r, 0, &p, 1.0f);
	assert_true(p.fate == SL_FATE_alive && p.w == -0.6f && p.z == 1.0f);
}

static float thickness_of(const struct sl_slab *r)
{
	return r->layer[r->layers - 1].bottom;
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
	assert_true(p->z >= 0.0f && p->z <= thickness_of(r) && p->time >= 0.0f);
	assert_true(p->collisions <= p->steps && p->steps <= r->max_steps);
	check_weight(r, p);
	if (p->fate == SL_FATE_reflected)
		assert_true(p->z == 0.0f && p->w < 0.0f);
	if (p->fate == SL_FATE_transmitted)
		assert_true(p->z == thickness_of(r) && p->w > 0.0f);
	if (p->fate == SL_FATE_absorbed || p->fate == SL_FATE_roulette)
		assert_true(p->collisions > 0);
	if (p->fate == SL_FATE_max_steps)
		assert_true(p->steps == r->max_steps);
}

/* Step by step p keeps to the slab; all steps at once end the same. */
static void check_life(const struct sl_slab *r, uint64_t id)
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

static struct sl_slab_config one_layer(double mu_a, double mu_s, double g, double thickness,
	double n, double n_above, double n_below, double angle, int incidence)
{
	struct sl_slab_config c = {.mu_a = ONE(mu_a),
		.mu_s = ONE(mu_s),
		.g = ONE(g),
		.thickness = ONE(thickness),
		.n = ONE(n),
		.n_above = n_above,
		.n_below = n_below,
		.angle = angle,
		.roulette = {0.01, 0.5},
		.incidence = incidence};

	return c;
}

static struct sl_slab_config ended_by(struct sl_slab_config c, double thickness, int incidence)
{
	c.thickness.at[c.thickness.n - 1] = thickness;
	c.incidence = incidence;
	c.angle = 0.8;
	return c;
}

static void lives_keep_to_the_slab(void **state)
{
	const struct sl_slab_config slabs[] = {
		plain,
		one_layer(10, 90, 0.75, 0.02, 1, 1, 1, 0, 0),
		one_layer(0, 1, 0, HUGE_VAL, 1.5, 1, 1, 0, SL_INCIDENCE_DIFFUSE),
		one_layer(0, 1e30, 0.999, 1e-30, 10, 0.1, 0.1, 0, 0),
		one_layer(0, 1e-30, -0.999, HUGE_VAL, 1, 1, 1, 0, 0),
		one_layer(1e-30, 1e30, 0, 1e-28, 0.1, 10, 10, 1.57, SL_INCIDENCE_ANGLE),
		one_layer(1e30, 1e-30, 0.5, 1, 1.33, 1, 1.5, 1.57, SL_INCIDENCE_ANGLE),
		one_layer(0, 1, -0.9, 1e30, 1.33, 1.5, 1, 0, SL_INCIDENCE_DIFFUSE),
		one_layer(0.01, 1, 0.9, 5, 2.4, 1, 1.33, 1, SL_INCIDENCE_ANGLE),
		one_layer(7, 0, 0.9, 1, 2.4, 1, 1.33, 1, SL_INCIDENCE_ANGLE),
		stack,
		ended_by(stack, HUGE_VAL, SL_INCIDENCE_DIFFUSE),
		ended_by(stack, 0.1501 * 0x1p-16, SL_INCIDENCE_ANGLE),
		ended_by(stack, 1e30, SL_INCIDENCE_ANGLE),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(slabs) / sizeof(slabs[0]); i++)
		for (int k = 0; k < 2; k++) {
			struct sl_slab r = rules_of(k ? implicit(slabs[i]) : slabs[i]);

			for (uint64_t id = 0; id < 1000; id++)
				check_life(&r, id);
		}
}

/* From either surface, along it or as good as. */
static void grazing_flights(void **state)
{
	const float cosines[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 0x1p-149f, -0x1p-149f, 1.0f, -1.0f};
	const float thicknesses[] = {1e-30f, 1.0f, 1e30f, HUGE_VALF};
	struct sl_slab r = rules_of(plain);

	(void)state;
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
static void flights_are_exponential(void **state)
{
	struct sl_slab_config c = plain;
	double sum = 0, square = 0, absorbed = 0;
	enum { N = 1000000 };
	struct sl_slab r;

	(void)state;
	c.thickness.at[0] = HUGE_VAL;
	r = rules_of(c);
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

static void max_steps_ends_a_life(void **state)
{
	struct sl_slab_config c = plain;
	struct sl_slab r;

	(void)state;
	c.mu_a.at[0] = 0;
	c.thickness.at[0] = 1e6;
	r = rules_of(c);
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

/* --- layers ----------------------------------------------------------------------------------- */

static struct sl_slab_config stacked(uint32_t n, const double *thickness, struct sl_slab_config c)
{
	c.thickness.n = n;
	memcpy(c.thickness.at, thickness, n * sizeof(*thickness));
	return c;
}

/* However one medium is cut, the rules are the same to the byte: so is all that follows. */
static void layers_of_one_medium_are_one(void **state)
{
	const double halves[] = {0.5, 0.5}, quarters[] = {0.25, 0.125, 0.375, 0.25};
	const double thin[] = {1 - 0x1p-20, 0x1p-20}, endless[] = {1, HUGE_VAL};
	struct sl_slab whole = rules_of(plain), r = rules_of(stacked(2, halves, plain));
	struct sl_slab_config c = plain;

	(void)state;
	assert_memory_equal(&r, &whole, sizeof(r));
	r = rules_of(stacked(4, quarters, plain));
	assert_memory_equal(&r, &whole, sizeof(r));
	r = rules_of(stacked(2, thin, plain));
	assert_memory_equal(&r, &whole, sizeof(r));
	c.mu_a = (struct sl_reals){4, {1, 1, 1, 1}};
	c.n = (struct sl_reals){4, {1, 1, 1, 1}};
	r = rules_of(stacked(4, quarters, c));
	assert_memory_equal(&r, &whole, sizeof(r));
	c = plain;
	c.thickness.at[0] = HUGE_VAL;
	whole = rules_of(c);
	r = rules_of(stacked(2, endless, plain));
	assert_memory_equal(&r, &whole, sizeof(r));
}

/* The same within a stack; a layer that differs in anything is one of its own. */
static void layers_that_differ_stay(void **state)
{
	const struct sl_slab_config cut = {.mu_a = {5, {1, 0, 0, 2, 2}},
		.mu_s = {5, {9, 0, 0, 38, 38}},
		.g = {5, {0.5, 0.9, 0.9, 0, 0}},
		.thickness = {5, {0.1, 0.03125, 0.01875, 0.125, 0.075}},
		.n = {5, {1.5, 1, 1, 1.4, 1.4}},
		.n_above = 1.1,
		.n_below = 1.2,
		.roulette = {1e-4, 0.1}};
	struct sl_slab r = rules_of(cut), whole = rules_of(stack);
	struct sl_slab_config c = plain;

	(void)state;
	assert_memory_equal(&r, &whole, sizeof(r));
	for (int k = 0; k < 4; k++) {
		struct sl_reals two = {2, {1, k % 2 ? 0.5 : 1.5}};

		c = plain;
		c.thickness.n = 2;
		c.thickness.at[1] = 1;
		*(k == 0 ? &c.mu_a : k == 1 ? &c.g : k == 2 ? &c.n : &c.mu_s) = two;
		assert_int_equal(2, rules_of(c).layers);
	}
}

static void layers_lie_on_one_another(void **state)
{
	struct sl_slab r = rules_of(stack);
	const struct sl_layer *l = r.layer;

	(void)state;
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

/* Within a layer wherever it flies; on a boundary the one that it flies into. */
static void depth_and_direction_tell_the_layer(void **state)
{
	struct sl_slab r = rules_of(stack);
	const struct sl_layer *l = r.layer;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		for (int k = -1; k <= 1; k++) {
			assert_int_equal(i, sl_layer_at(&r, l[i].first, (float)k));
			assert_int_equal(i, sl_layer_at(&r, l[i].last, (float)k));
			assert_int_equal(
				k < 0 && i > 0 ? i - 1 : i, sl_layer_at(&r, l[i].top, (float)k));
			assert_int_equal(k < 0 || i == 2 ? i : i + 1,
				sl_layer_at(&r, l[i].bottom, (float)k));
		}
}

/* Flights across the middle of a layer have its mean free path, n, absorption and scattering. */
static void each_layer_has_its_medium(void **state)
{
	struct sl_slab r = rules_of(stack);

	(void)state;
	for (int k = 0; k < 200; k++) {
		int i = k % 2 ? 0 : 2;
		double mu_t = stack.mu_a.at[i] + stack.mu_s.at[i];
		const struct sl_particle p = {
			.id = (uint64_t)k, .u = 1, .z = i ? 0.25f : 0.05f, .weight = 1};
		struct sl_words random = sl_draw(3, p.id, 1);
		double way = -log((double)sl_uniform(random.at[0])) / mu_t;
		double cosine = (double)scatter(stack.g.at[i], sl_uniform(random.at[2]));
		struct sl_particle q = p;

		sl_slab_advance(&r, SL_EVERY_COLUMN, 3, &q, 1);
		assert_true(fabs((double)q.x - way) < 1e-5 * way);
		assert_true(fabs((double)q.time - way * stack.n.at[i] / 29.9792458) < 1e-6 * way);
		assert_int_equal((double)sl_uniform(random.at[1]) <= stack.mu_a.at[i] / mu_t
					 ? SL_FATE_absorbed
					 : SL_FATE_alive,
			q.fate);
		assert_true(q.fate != SL_FATE_alive || fabs(dot(&p, &q) - cosine) < 1e-6);
	}
}

/* Between the first two layers, of n = 1.5 and 1, and back. */
static void boundaries_reflect_or_refract(void **state)
{
	struct sl_slab r = rules_of(stack);
	const struct sl_particle down = {.u = 0.6f, .w = 0.8f, .z = 0.05f};
	struct sl_particle p = down, q;
	float t;

	(void)state;
	assert_int_equal(0, meet(&r, 0, &p, 0x1p-33f));
	assert_true(p.z == 0.1f && p.w == -0.8f && p.u == 0.6f);
	p = down;
	assert_int_equal(1, meet(&r, 0, &p, 1.0f));
	assert_true(p.z == 0.1f && p.fate == SL_FATE_alive && fabsf(p.u - 0.9f) < 1e-6f);
	assert_true(fabs((double)p.w - sqrt(1 - 0.81)) < 1e-6 && sl_layer_at(&r, p.z, p.w) == 1);
	assert_true(fabs((double)p.time - 1.5 * 0.0625 / 29.9792458) < 1e-9);
	q = p; /* turned about, it comes back as it came */
	q.w = -q.w;
	q.z = 0.12f;
	q.time = 0;
	assert_int_equal(0, meet(&r, 1, &q, 1.0f));
	assert_true(q.z == 0.1f && fabsf(q.w + 0.8f) < 1e-6f && fabsf(q.u - 0.6f) < 1e-6f);
	assert_true(fabs((double)q.time - 0.02 / (double)p.w / 29.9792458) < 1e-9);
	/* the share is Fresnel's of these two media */
	p = q = down;
	meet(&r, 0, &p, sl_fresnel(1.5f, 1.0f, 0.8f, &t));
	meet(&r, 0, &q, nextafterf(sl_fresnel(1.5f, 1.0f, 0.8f, &t), 1.0f));
	assert_true(p.w < 0.0f && q.w > 0.0f);
	/* total reflection, however the die falls */
	p = (struct sl_particle){.u = 0.8f, .w = 0.6f, .z = 0.0999f};
	assert_int_equal(0, meet(&r, 0, &p, 1.0f));
	assert_true(p.w == -0.6f && p.u == 0.8f && p.z == 0.1f);
	/* out at both ends */
	p = (struct sl_particle){.w = 1.0f, .z = 0.3f};
	meet(&r, 2, &p, 1.0f);
	assert_true(p.fate == SL_FATE_transmitted && p.z == thickness_of(&r));
}

/* Along a boundary, or as good as: a flight that is lost to rounding does not change the layer. */
static void grazing_flights_keep_their_layer(void **state)
{
	const float cosines[] = {1e-12f, -1e-12f, 0x1p-149f, -0x1p-149f, 1e-7f, -1e-7f};
	struct sl_slab_config c = stack;
	struct sl_slab r;

	(void)state;
	c.mu_s.at[1] = 1000;
	r = rules_of(c);
	for (int i = 0; i < 6; i++)
		for (uint64_t id = 0; id < 2000; id++) {
			struct sl_particle p = {.id = id, .u = 1, .w = cosines[i], .weight = 1};
			uint32_t layer;

			p.z = r.layer[1].top;
			layer = sl_layer_at(&r, p.z, p.w);
			assert_int_equal(p.w < 0.0f ? 0 : 1, layer);
			sl_slab_advance(&r, SL_EVERY_COLUMN, 3, &p, 1);
			assert_int_equal(layer, sl_layer_at(&r, p.z, p.w));
			assert_true(p.collisions == 0 || p.z != r.layer[1].top);
		}
}

/* A glass over what is black: of the light that comes back, 2 rho / (1 + rho), by its two faces. */
static void clear_layers_are_clear(void **state)
{
	const struct sl_slab_config glass = {.mu_a = {2, {0, 1e9}},
		.mu_s = ONE(0),
		.g = ONE(0),
		.thickness = {2, {0.1, HUGE_VAL}},
		.n = {2, {1.5, 1}},
		.n_above = 1,
		.n_below = 1};
	struct sl_slab r = rules_of(glass);
	const double want = 2 * 0.04 / 1.04;
	enum { N = 200000 };
	int back = 0;

	(void)state;
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

/* --- implicit capture ------------------------------------------------------------------------- */

static void nothing_absorbed_is_the_same_either_way(void **state)
{
	struct sl_slab_config c = stack;
	struct sl_slab r, s;

	(void)state;
	c.mu_a = (struct sl_reals)ONE(0);
	r = rules_of(c);
	s = rules_of(implicit(c));
	for (uint64_t id = 0; id < 2000; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, 1, id), q = p;

		sl_slab_advance(&r, SL_EVERY_COLUMN, 1, &p, UINT32_MAX);
		sl_slab_advance(&s, SL_EVERY_COLUMN, 1, &q, UINT32_MAX);
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

static void collisions_take_their_share(void **state)
{
	struct sl_slab r = rules_of(implicit(plain));
	struct sl_particle p = {.weight = 1};

	(void)state;
	sl_slab_absorb(&r, &r.layer[0], &p, 0x1p-33f);
	assert_true(p.weight == 0.9f && p.fate == SL_FATE_alive);
	sl_slab_absorb(&r, &r.layer[0], &p, 1.0f);
	assert_true(p.weight == 0.9f * 0.9f && p.fate == SL_FATE_alive);
	p.weight = 1.2e-4f; /* stays above */
	sl_slab_absorb(&r, &r.layer[0], &p, 1.0f);
	assert_true(p.weight == 1.2e-4f * 0.9f && p.fate == SL_FATE_alive);
}

/* The weight that goes in comes out, on average: by how the die may fall, without a chance. */
static void roulette_keeps_the_weight(void **state)
{
	struct sl_slab r = rules_of(implicit(plain));
	const float before = 1.05e-4f, after = before * 0.9f;
	enum { N = 1 << 16 };
	double sum = 0;

	(void)state;
	for (uint32_t k = 0; k < N; k++) {
		struct sl_particle p = {.weight = before};
		bool wins = (double)(k << 16) / 0x1p32 < 0.1;

		sl_slab_absorb(&r, &r.layer[0], &p, sl_uniform(k << 16));
		assert_int_equal(wins ? SL_FATE_alive : SL_FATE_roulette, p.fate);
		assert_true(wins ? fabsf(p.weight / after - 10.0f) < 1e-5f : p.weight == 0.0f);
		sum += (double)p.weight;
	}
	assert_true(fabs(sum / N / (double)after - 1) < 10.0 / N);
}

/* The weight that ends as each fate, of N particles, and its standard error. */
struct estimate {
	double mean[SL_FATE_COUNT], error[SL_FATE_COUNT];
};

static struct estimate estimate(struct sl_slab_config c, uint64_t seed)
{
	struct sl_slab r = rules_of(c);
	double sum[SL_FATE_COUNT] = {0}, squares[SL_FATE_COUNT] = {0};
	enum { N = 50000 };
	struct estimate e;

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, seed, id);
		double left, weight;

		sl_slab_advance(&r, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);
		weight = p.fate == SL_FATE_absorbed ? 0 : (double)p.weight;
		left = 1 - weight;
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

/* Other seeds, so that they are independent; and no error is larger with implicit capture. */
static void implicit_agrees_with_analogue(void **state)
{
	struct sl_slab_config often = plain;
	const enum sl_fate fates[] = {
		SL_FATE_reflected, SL_FATE_transmitted, SL_FATE_absorbed, SL_FATE_max_steps};
	double worst = 0;

	(void)state;
	often.roulette.below = 0.4;
	often.roulette.survive = 0.5;
	for (int k = 0; k < 5; k++) {
		const struct sl_slab_config slabs[] = {one_layer(10, 90, 0.75, 0.02, 1, 1, 1, 0, 0),
			plain, stack, often,
			one_layer(50, 50, 0, 0.05, 1.4, 1, 1, 0, SL_INCIDENCE_DIFFUSE)};
		struct estimate a = estimate(slabs[k], 1), b = estimate(implicit(slabs[k]), 2);

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

/* --- the configuration ------------------------------------------------------------------------ */

static void check_complaint(struct sl_slab_config c, const char *given, const char *want)
{
	struct model_check m;
	struct sl_slab r;

	model_check_begin(&m, given);
	model->make(&c, &common, &r, &m.check);
	assert_string_equal(want, m.said);
}

static void bad_configurations_are_refused(void **state)
{
	struct sl_slab_config nothing = plain, little = plain, angled = plain;

	(void)state;
	nothing.mu_a.at[0] = nothing.mu_s.at[0] = 0;
	little.mu_a.at[0] = little.mu_s.at[0] = 1e-31;
	angled.incidence = SL_INCIDENCE_ANGLE;
	check_complaint(plain, "", "");
	check_complaint(nothing, "",
		"mu_a: mu_a + mu_s is 0 (a flight would never end), give one of them a value\n");
	check_complaint(little, "",
		"mu_a: mu_a + mu_s is 2e-31 /cm (flights would leave single precision), make it "
		"at least 1e-30 /cm\n");
	check_complaint(angled, " angle ", "");
	check_complaint(
		angled, "", "incidence: needs an angle (none is given), add angle: 30 deg\n");
	check_complaint(plain, " angle ",
		"angle: does nothing here (only incidence: angle uses it), remove it or change "
		"incidence\n");
}

static void bad_layers_are_refused(void **state)
{
	struct sl_slab_config c = stack;

	(void)state;
	c.mu_s.n = 2;
	c.n.n = 0;
	check_complaint(c, "",
		"mu_s: has 2 values where mu_a has 3 (each layer needs one), give one for each "
		"layer or one for all\n"
		"n: has 0 values where mu_a has 3 (each layer needs one), give one for each layer "
		"or one for all\n");
	c = plain;
	c.g.n = SL_LAYERS_MAX + 1;
	check_complaint(c, "", "g: has 17 values (a slab has at most 16 layers), give fewer\n");
	c = stack;
	c.thickness.at[1] = HUGE_VAL;
	check_complaint(c, "",
		"mu_a[1]: mu_a + mu_s is 0 (a flight would never end), give one of them a value\n"
		"thickness[1]: is infinite, of layer 2 of 3 (only the last can be), give it an "
		"end\n");
	c = stack;
	c.thickness = (struct sl_reals)ONE(HUGE_VAL);
	c.mu_a.at[1] = 1e-31;
	check_complaint(c, "",
		"mu_a[1]: mu_a + mu_s is 1e-31 /cm (flights would leave single precision), make "
		"it at least 1e-30 /cm\n"
		"thickness: is infinite, of layer 1 of 3 (only the last can be), give it an end\n"
		"thickness: is infinite, of layer 2 of 3 (only the last can be), give it an "
		"end\n");
	c = stack;
	c.thickness.at[1] = 1e-6;
	check_complaint(c, "",
		"thickness[1]: is too thin at a depth of 0.1 cm (positions have 24 bits), make it "
		"at least 1.5e-06 cm\n");
}

static void bad_roulettes_are_refused(void **state)
{
	struct sl_slab_config c = implicit(plain);

	(void)state;
	check_complaint(plain, " roulette.below roulette.survive ",
		"roulette.below: does nothing here (only absorption: implicit uses it), remove it "
		"or change absorption\n"
		"roulette.survive: does nothing here (only absorption: implicit uses it), remove "
		"it or change absorption\n");
	check_complaint(c, " roulette.below roulette.survive ", "");
	c.roulette.below = 0.2;
	check_complaint(c, " roulette.below ",
		"roulette.below: is above roulette.survive (weights would come out above 1), make "
		"it at most 0.1\n");
}

static void ranges_and_constants(void **state)
{
	struct sl_slab_config c = plain;
	struct sl_slab r = rules_of(c);
	struct sl_particle values = {0};
	double lo, hi;

	(void)state;
	assert_true(model->range(&r, SL_COLUMN_w, &lo, &hi) && lo == -1 && hi == 1);
	assert_true(model->range(&r, SL_COLUMN_z, &lo, &hi) && lo == 0 && hi == 1);
	assert_true(model->range(&r, SL_COLUMN_steps, &lo, &hi) && lo == 0 && hi == 1000);
	assert_false(model->range(&r, SL_COLUMN_x, &lo, &hi));
	assert_false(model->range(&r, SL_COLUMN_pixel, &lo, &hi));
	assert_int_equal(SL_BIT(SL_COLUMN_weight), model->constants(&r, &values));
	assert_true(values.weight == 1.0f);
	assert_true(model->range(&r, SL_COLUMN_fate, &lo, &hi) && hi == SL_FATE_max_steps);
	r = rules_of(implicit(c));
	assert_true(model->range(&r, SL_COLUMN_fate, &lo, &hi) && hi == SL_FATE_roulette);
	assert_int_equal(0, model->constants(&r, &values));
	r = rules_of(stack);
	assert_true(model->range(&r, SL_COLUMN_z, &lo, &hi) && fabs(hi - 0.35) < 1e-7);
	c.thickness.at[0] = HUGE_VAL;
	r = rules_of(c);
	assert_false(model->range(&r, SL_COLUMN_z, &lo, &hi));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresnel_known_values),
		cmocka_unit_test(fresnel_beyond_a_cosine_of_1),
		cmocka_unit_test(fresnel_about_the_critical_angle),
		cmocka_unit_test(fresnel_against_double),
		cmocka_unit_test(fresnel_is_reciprocal),
		cmocka_unit_test(refraction_obeys_snell),
		cmocka_unit_test(isotropic_scattering_is_exact),
		cmocka_unit_test(scattering_has_its_ends),
		cmocka_unit_test(scattering_has_its_mean_and_law),
		cmocka_unit_test(a_million_turns_keep_the_length),
		cmocka_unit_test(a_turn_mends_the_length),
		cmocka_unit_test(turns_at_the_poles),
		cmocka_unit_test(normal_incidence_is_along_the_axis),
		cmocka_unit_test(angled_incidence_is_refracted),
		cmocka_unit_test(all_is_reflected_at_entry_beyond_the_critical_angle),
		cmocka_unit_test(diffuse_incidence_is_lambertian),
		cmocka_unit_test(surfaces_reflect_or_let_out),
		cmocka_unit_test(lives_keep_to_the_slab),
		cmocka_unit_test(grazing_flights),
		cmocka_unit_test(flights_are_exponential),
		cmocka_unit_test(max_steps_ends_a_life),
		cmocka_unit_test(layers_of_one_medium_are_one),
		cmocka_unit_test(layers_that_differ_stay),
		cmocka_unit_test(layers_lie_on_one_another),
		cmocka_unit_test(depth_and_direction_tell_the_layer),
		cmocka_unit_test(each_layer_has_its_medium),
		cmocka_unit_test(boundaries_reflect_or_refract),
		cmocka_unit_test(grazing_flights_keep_their_layer),
		cmocka_unit_test(clear_layers_are_clear),
		cmocka_unit_test(nothing_absorbed_is_the_same_either_way),
		cmocka_unit_test(collisions_take_their_share),
		cmocka_unit_test(roulette_keeps_the_weight),
		cmocka_unit_test(implicit_agrees_with_analogue),
		cmocka_unit_test(bad_configurations_are_refused),
		cmocka_unit_test(bad_layers_are_refused),
		cmocka_unit_test(bad_roulettes_are_refused),
		cmocka_unit_test(ranges_and_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
