/*
 * geometry.c - tests the flights of the models cavity, source_detector and rays against formulas in
 * double: at rims, tangents, corners and limits of ranges; and that starts have full precision,
 * also near the normal and at the poles.
 */
#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/models/cavity.h"
#include "stages/models/rays.h"
#include "stages/models/source_detector.h"

enum { N = 200000 };

/* --- cavity ----------------------------------------------------------------------------------- */

TEST(distances_to_the_wall_of_a_tube_are_exact)
{
	struct sl_recipe recipe = recipe_of("cavity: {type: tube, radius: 2 cm, length: 3 cm}");
	const struct sl_cavity *r = RULES_IN(cavity, &recipe);
	double worst = 0;

	recipe.seed = 2;
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = start_of(&recipe, id);
		double x = (double)p.x, y = (double)p.y, u = (double)p.u, v = (double)p.v;
		double a = u * u + v * v, b = x * u + y * v, c = 4 - x * x - y * y;
		double want = (sqrt(b * b + a * c) - b) / a;

		worst = fmax(
			worst, fabs((double)sl_cavity_tube_distance(r, &p) - want) / (want + 1e-3));
	}
	assert_true(worst < 2e-4); /* of points at the rim: a difference of squares */
}

/* --- source_detector -------------------------------------------------------------------------- */

#define DISK "detector: {type: disk, distance: 2 cm, radius: 1 cm}"

/* For any size and number, pixel indices are in range, monotonic and complete. */
TEST(pixels_are_in_range)
{
	static const double sizes[] = {1e-18, 1e-7, 0.3, 1, 3, 1e7, 1e18};
	static const uint32_t numbers[] = {1, 2, 3, 7, 64, 1000, 65535};

	for (int i = 0; i < 7 * 7; i++) {
		uint32_t n = numbers[i % 7], last = 0, steps = 4 * n;
		struct sl_source_detector r = RULES(source_detector,
			"detector: {type: rectangle, distance: 2 cm, width: %g cm, height: 1 "
			"cm, pixels: [%u, 1]}",
			sizes[i / 7], n);
		float half = r.half_width;

		for (uint32_t k = 0; k <= steps; k++) {
			float x = half * ((float)k * (2.0f / (float)steps) - 1.0f);
			uint32_t at = sl_source_detector_pixel(x, half, r.pixels_per_x, n);

			assert_true(at < n && at >= last && at - last <= 1);
			last = at;
		}
		assert_int_equal(n - 1, last);
		assert_int_equal(0, sl_source_detector_pixel(-half, half, r.pixels_per_x, n));
		assert_int_equal(n - 1, sl_source_detector_pixel(half, half, r.pixels_per_x, n));
		assert_int_equal(0, sl_source_detector_pixel(NAN, half, r.pixels_per_x, n));
	}
}

/* Starts a particle with given random words and checks the length of its direction. */
static struct sl_particle start(
	const struct sl_source_detector *r, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct sl_particle p = {0};
	struct sl_words words = {{a, b, c, d}};

	sl_source_detector_start(r, &p, words);
	assert_true(is_finite(&p) && fabs(excess_length(&p)) < 1e-6);
	return p;
}

static double uniform_of(uint32_t word)
{
	return ((double)word + 0.5) * 0x1p-32;
}

/* Directions are uniform in the cosine, also for a cone of 1e-6. */
TEST(point_sources_fill_their_cone)
{
	static const double angles[] = {1e-6, 1e-3, 0.1, 1, 3.141592654};

	for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
		struct sl_source_detector r = RULES(source_detector,
			"source: {type: point, half_angle: %.10g rad}, " DISK, angles[i]);
		double depth = 2 * pow(sin(angles[i] / 2), 2);

		for (uint64_t word = 0; word <= UINT32_MAX; word += UINT32_MAX / N) {
			struct sl_particle p =
				start(&r, (uint32_t)word, (uint32_t)word * 2654435761u, 0, 0);
			double t = depth * uniform_of((uint32_t)word), sine2 = t * (2 - t);
			double u = (double)p.u, v = (double)p.v;

			assert_true(p.x == 0.0f && p.y == 0.0f && p.z == 0.0f);
			assert_true(fabs((double)p.w - (1 - t)) < 3e-7);
			assert_true(fabs(u * u + v * v - sine2) < 2e-6 * sine2 + 1e-6 * t * t);
		}
	}
}

/*
 * Uniform in z on the surface and directed outward, Lambertian about each normal. Words are random,
 * then at their limits.
 */
TEST(sphere_sources_emit_outward)
{
	static const uint32_t ends[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
	struct sl_source_detector r =
		RULES(source_detector, "source: {type: sphere, radius: 0.5 cm}, " DISK);

	for (uint32_t id = 0; id < N / 4 + 6 * 6 * 6 * 6; id++) {
		struct sl_words w = sl_draw(1, id, 0);
		uint32_t k = id - N / 4;
		double x, y, z, h, across2;
		struct sl_particle p;

		if (id >= N / 4)
			w = (struct sl_words){
				{ends[k % 6], ends[k / 6 % 6], ends[k / 36 % 6], ends[k / 216]}};
		p = start(&r, w.at[0], w.at[1], w.at[2], w.at[3]);
		x = 2 * (double)p.x;
		y = 2 * (double)p.y;
		z = 2 * (double)p.z;
		h = uniform_of(w.at[2]);
		across2 = 4 * h * (1 - h); /* x^2 + y^2, not on rings at the poles */
		assert_true(fabs(x * x + y * y - across2) < 1e-6 * across2);
		assert_true(fabs(x * x + y * y + z * z - 1) < 1e-6);
		assert_true(fabs((double)p.u * x + (double)p.v * y + (double)p.w * z -
				    sqrt(uniform_of(w.at[0]))) < 5e-7);
	}
}

TEST(beams_and_spectra_at_the_limits_of_words)
{
	struct sl_source_detector r =
		RULES(source_detector, "source: {type: beam, sigma: 2 cm}, " DISK);

	assert_true(fabsf(start(&r, 0, 0, 0, 0).x - 2 * 6.764f) < 0.01f); /* the farthest */
	assert_true(start(&r, 0, 0, UINT32_MAX, 0).x == 0.0f);
	assert_true(start(&r, 1, 2, 3, 4).w == 1.0f && start(&r, 1, 2, 3, 4).z == 0.0f);
	r = RULES(source_detector, "energy: {type: lines, lines: [0, 1 keV, 2 keV]}, " DISK);
	assert_true(r.cumulative[2] == 1.0f);
	r = RULES(source_detector, "energy: {type: lines, lines: 0}, " DISK);
	assert_true(sl_source_detector_energy(&r, 1, 0) == 0.0f);
}

/* Squares of lengths, and their sums, must be finite in single precision. */
TEST(lengths_whose_square_overflows_are_refused)
{
	const struct sl_model *model = &sl_source_detector_model;
	int n = 0;

	for (size_t i = 0; i < model->n_options; i++)
		if (model->options[i].dimension == SL_DIM_LENGTH) {
			double lo = model->options[i].lo, hi = model->options[i].hi;

			assert_true(hi * hi < 0x1p124 && (lo == 0 || lo * lo > 0x1p-126));
			n++;
		}
	assert_int_equal(8, n);
}

/* --- rays ------------------------------------------------------------------------------------- */

static const double center[3] = {0.3, -0.2, 0.4}, from[3] = {-0.5, -0.3, -0.8},
		    to[3] = {0.4, 0.9, 0.7}, normal[3] = {0.3, -4, 1}, point[3] = {0, 0.2, 0.1};

/*
 * Distances along a ray to the sphere, the box and the plane in double; negative: none. Sets *rise
 * to the slope to the plane.
 */
static void distances(const double at[3], const double along[3], double distance[3], double *rise)
{
	double a = 0, b = 0, c = -0.7 * 0.7, height = 0, first = -1e300, last = 1e300, root;

	*rise = 0;
	for (int k = 0; k < 3; k++) {
		double off = at[k] - center[k], t = (from[k] - at[k]) / along[k],
		       u = (to[k] - at[k]) / along[k];

		a += along[k] * along[k];
		b += off * along[k];
		c += off * off;
		first = fmax(first, fmin(t, u));
		last = fmin(last, fmax(t, u));
		*rise += normal[k] * along[k];
		height += normal[k] * (at[k] - point[k]);
	}
	root = b * b - a * c;
	distance[0] = root < 0 ? -1
	              : c < 0  ? (sqrt(root) - b) / a
	              : b < 0  ? c / (sqrt(root) - b)
	                       : -1;
	distance[1] = first > last ? -1 : first > 0 ? first : last;
	distance[2] = height * *rise < 0 ? -height / *rise : -1;
}

/* A ray from far, near or inside, in any direction. */
static struct sl_particle random_ray(uint64_t id)
{
	struct sl_words w = sl_draw(3, id, 0);
	float size = id % 2 ? 2.0f : 30.0f;
	struct sl_particle p = {.x = size * (sl_uniform(w.at[0]) - 0.5f),
		.y = size * (sl_uniform(w.at[1]) - 0.5f),
		.z = size * (sl_uniform(w.at[2]) - 0.5f)};

	w = sl_draw(3, id, 1);
	sl_deflect(&p, 0.0f, 0.0f, 1.0f, 2.0f * sqrtf(sl_uniform(w.at[0]) * sl_uniform(~w.at[0])),
		fmaf(-2.0f, sl_uniform(w.at[0]), 1.0f), 2.0f * sl_uniform(w.at[1]));
	return p;
}

/* Rays that graze a surface may hit or miss it. */
TEST(distances_to_surfaces_are_exact)
{
	struct sl_rays r = RULES(rays,
		"source: random, objects: [{sphere: {center: [0.3 cm, -0.2 cm, 0.4 cm], radius: 0.7 "
		"cm}}, {box: {from: [-0.5 cm, -0.3 cm, -0.8 cm], to: [0.4 cm, 0.9 cm, 0.7 cm]}}, "
		"{plane: {point: [0, 0.2 cm, 0.1 cm], normal: [0.3, -4, 1]}}]");
	int differ = 0, met = 0;

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = random_ray(id);
		const double at[3] = {(double)p.x, (double)p.y, (double)p.z};
		const double along[3] = {(double)p.u, (double)p.v, (double)p.w};
		double rise, want[3];

		distances(at, along, want, &rise);
		for (int k = 0; k < 3; k++) {
			double got = (double)sl_rays_hit_surface(&r.surface[k], &p).distance;

			met += want[k] >= 0;
			if ((got < 0) != (want[k] < 0))
				differ++;
			else if (got >= 0)
				assert_true(fabs(got - want[k]) * (k == 2 ? fabs(rise) / 5 : 1) <
					    2e-3 + 1e-5 * want[k]);
		}
	}
	print_message("%d hits, %d grazing rays differ\n", met, differ);
	assert_true(met > N / 4 && differ < 10);
}
