/*
 * slab_sources.c - tests the sources of the model slab: the places and directions in which particles
 * start, against the exact moments of each distribution.
 */
#include "tests/support/models/slab_check.h"

enum { N = 400000, SEED = 5 };

/* Sums over the starts of N particles. */
struct starts {
	double radius2, radius4; /* mean of r^2 and of r^4 */
	double across;           /* mean of x + y */
	double cosine, cosine2;  /* mean of w and of w^2 */
	double sideways;         /* mean of u + v */
	double largest;          /* r */
	int within;              /* r < 1 */
};

static struct starts start(const struct sl_slab *r)
{
	struct starts s = {0};

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(r, SL_EVERY_COLUMN, SEED, id);
		double x = (double)p.x, y = (double)p.y, w = (double)p.w, r2 = x * x + y * y;

		assert_true(p.fate == SL_FATE_alive && p.z == r->depth && p.weight == 1.0f);
		assert_true(fabs(excess_length(&p)) < 1e-6);
		s.radius2 += r2 / N;
		s.radius4 += r2 * r2 / N;
		s.across += (x + y) / N;
		s.cosine += w / N;
		s.cosine2 += w * w / N;
		s.sideways += (double)(p.u + p.v) / N;
		s.largest = fmax(s.largest, sqrt(r2));
		s.within += r2 < 1;
	}
	return s;
}

static struct sl_slab_config with_source(int type)
{
	struct sl_slab_config c = slab_plain;

	c.source.type = type;
	c.source.radius = 2;
	c.source.sigma = 1.5;
	c.source.na = 0.6;
	c.source.depth = 0.25;
	return c;
}

/* r^2/(2 sigma^2) is exponential: mean 1, mean square 2. */
TEST(gaussian_has_its_standard_deviation)
{
	struct sl_slab r = slab_rules(with_source(SL_SLAB_GAUSSIAN));
	struct starts s = start(&r);
	double unit = 2 * 1.5 * 1.5, within = 1 - exp(-1 / unit);

	assert_true(fabs(s.radius2 / unit - 1) < 4 * sqrt(1.0 / N));
	assert_true(fabs(s.radius4 / unit / unit - 2) < 4 * sqrt(20.0 / N));
	assert_true(fabs(s.within / (double)N - within) < 4 * sqrt(within / N));
	assert_true(fabs(s.across) < 4 * sqrt(unit / N));
	assert_true(fabs(s.cosine - 1) < 1e-9);
}

/* r^2 is uniform up to the square of the radius. */
TEST(disk_is_uniform)
{
	struct sl_slab r = slab_rules(with_source(SL_SLAB_DISK));
	struct starts s = start(&r);

	assert_true(fabs(s.radius2 / 4 - 0.5) < 4 * sqrt(1.0 / 12 / N));
	assert_true(fabs(s.radius4 / 16 - 1.0 / 3) < 4 * sqrt(4.0 / 45 / N));
	assert_true(fabs(s.across) < 4 * sqrt(2.0 / N));
	assert_true(s.largest <= 2 && s.largest > 1.9999);
}

/* Equal radiance in the cone: with c the cosine of its edge, the mean cosine is
 * (2/3)(1 - c^3)/(1 - c^2) and the mean square (1 + c^2)/2. */
TEST(fibre_fills_its_cone)
{
	struct sl_slab_config config = with_source(SL_SLAB_FIBRE);

	for (int k = 0; k < 3; k++) {
		/* in water, a sine of 0.6/1.33; a full hemisphere is Lambertian */
		double n = k == 0 ? 1 : 1.33, sine = k == 2 ? 1 : 0.6 / n;
		double c = sqrt(1 - sine * sine), mean, square = (1 + c * c) / 2;
		struct sl_slab r;
		struct starts s;

		config.n.at[0] = config.n_above = n;
		config.source.na = k == 2 ? n : 0.6;
		r = slab_rules(config);
		s = start(&r);
		mean = 2.0 / 3 * (1 - c * c * c) / (1 - c * c);
		assert_true(fabs(s.cosine - mean) < 4 * sqrt((square - mean * mean) / N) + 1e-7);
		assert_true(fabs(s.cosine2 - square) < 4 * sqrt(0.1 / N) * sine * sine);
		assert_true(fabs(s.sideways) < 4 * sqrt(sine * sine / N));
		assert_true(fabs(s.radius2 / 4 - 0.5) < 4 * sqrt(1.0 / 12 / N));
	}
}

/* The surface refracts the cone: sines inside are 1/n of those outside. */
TEST(fibre_is_refracted)
{
	struct sl_slab_config c = with_source(SL_SLAB_FIBRE);
	double largest = 0;
	struct sl_slab r;

	c.n.at[0] = 1.5;
	r = slab_rules(c);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, SEED, id);

		if (p.fate == SL_FATE_alive)
			largest = fmax(largest, hypot((double)p.u, (double)p.v));
	}
	assert_true(largest <= 0.4 + 1e-6 && largest > 0.3999);
}

TEST(isotropic_has_no_direction)
{
	struct sl_slab r = slab_rules(with_source(SL_SLAB_ISOTROPIC));
	struct starts s = start(&r);

	assert_true(r.depth == 0.25f && s.radius2 == 0);
	assert_true(fabs(s.cosine) < 4 * sqrt(1.0 / 3 / N));
	assert_true(fabs(s.cosine2 - 1.0 / 3) < 4 * sqrt(4.0 / 45 / N));
	assert_true(fabs(s.sideways) < 4 * sqrt(2.0 / 3 / N));
}

/* On the boundary of two layers, the direction decides in which of them a particle starts. */
TEST(a_point_on_a_boundary_starts_in_both_layers)
{
	struct sl_slab_config c = slab_stack;
	int n[2] = {0, 0};
	struct sl_slab r;

	c.source.type = SL_SLAB_ISOTROPIC;
	c.source.depth = 0.1;
	r = slab_rules(c);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, SEED, id);
		bool down = p.w > 0.0f;

		assert_int_equal(down, sl_slab_layer_at(&r, p.z, p.w));
		n[down]++;
		sl_slab_advance(&r, SL_EVERY_COLUMN, SEED, &p, 1);
		assert_true(down ? p.z >= r.depth : p.z <= r.depth);
	}
	assert_true(fabs(n[0] - N / 2.0) < 4 * sqrt(N / 4.0));
}

/* A width changes where particles start, but not how: the random words of a flight are the same. */
TEST(a_width_moves_the_histories_of_a_pencil)
{
	struct sl_slab pencil = slab_rules(slab_plain);
	struct sl_slab disk = slab_rules(with_source(SL_SLAB_DISK));

	for (uint64_t id = 0; id < 2000; id++) {
		struct sl_particle p = sl_slab_generate(&pencil, SL_EVERY_COLUMN, SEED, id);
		struct sl_particle q = sl_slab_generate(&disk, SL_EVERY_COLUMN, SEED, id);
		double x = (double)q.x, y = (double)q.y;

		sl_slab_advance(&pencil, SL_EVERY_COLUMN, SEED, &p, UINT32_MAX);
		sl_slab_advance(&disk, SL_EVERY_COLUMN, SEED, &q, UINT32_MAX);
		assert_true(p.fate == q.fate && p.steps == q.steps && p.z == q.z && p.u == q.u);
		assert_true(fabs((double)q.x - (double)p.x - x) < 1e-5);
		assert_true(fabs((double)q.y - (double)p.y - y) < 1e-5);
	}
}

TEST(specular_reflection_can_be_counted_apart)
{
	struct sl_slab_config c = slab_plain;
	struct sl_slab r, s;
	int specular = 0;

	c.n.at[0] = 1.5;
	r = slab_rules(c);
	c.separate_specular = true;
	s = slab_rules(c);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, SEED, id);
		struct sl_particle q = sl_slab_generate(&s, SL_EVERY_COLUMN, SEED, id);

		if (q.fate == SL_FATE_specular) {
			assert_int_equal(SL_FATE_reflected, p.fate);
			q.fate = SL_FATE_reflected;
			specular++;
		}
		assert_memory_equal(&p, &q, sizeof(p));
	}
	assert_true(fabs(specular / (double)N - 0.04) < 4 * sqrt(0.04 / N));
	assert_int_equal(SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_specular),
		sl_slab_model.unused_fates(&r));
	assert_int_equal(SL_FATE_BIT(SL_FATE_hit), sl_slab_model.unused_fates(&s));
	check_range(&sl_slab_model, &r, SL_COLUMN_fate, 0, SL_FATE_max_steps);
	check_range(&sl_slab_model, &s, SL_COLUMN_fate, 0, SL_FATE_specular);
}

TEST(bad_sources_are_refused)
{
	struct sl_slab_config c = with_source(SL_SLAB_FIBRE);

	slab_expect_messages(c, " source.radius source.na ", "");
	slab_expect_messages(c, " incidence ",
		"source.radius: is missing: source.type: disk or fibre needs it; add it\n"
		"incidence: has no effect here: only source.type: pencil, gaussian or disk uses it; remove it or choose that\n"
		"source.na: is missing: source.type: fibre needs it; add it\n");
	c.source.na = 1.01;
	slab_expect_messages(c, " source.radius source.na ",
		"source.na: is above n_above, which is 1: no angle has a sine above 1; make it at most 1\n");
	c = with_source(SL_SLAB_ISOTROPIC);
	c.source.depth = 1;
	slab_expect_messages(c, " source.depth separate_specular ",
		"separate_specular: has no effect here: only a source on the surface uses it; remove it or choose that\n"
		"source.depth: is not inside the slab, which is 1 cm thick; make it smaller\n");
	slab_expect_messages(slab_plain, " source.radius source.sigma source.na source.depth ",
		"source.radius: has no effect here: only source.type: disk or fibre uses it; remove it or choose that\n"
		"source.sigma: has no effect here: only source.type: gaussian uses it; remove it or choose that\n"
		"source.na: has no effect here: only source.type: fibre uses it; remove it or choose that\n"
		"source.depth: has no effect here: only source.type: isotropic uses it; remove it or choose that\n");
}
