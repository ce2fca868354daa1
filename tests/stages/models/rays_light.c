/*
 * rays_light.c - tests the radiance that rays return: white furnaces, and exchange between
 * surfaces against closed forms.
 */
#include "tests/support/models/rays_check.h"

/* --- furnaces --------------------------------------------------------------------------------- */

/* All rays return exactly 1, except those that max_steps ends. */
static void check_furnace(const struct sl_rays_config *c, const char *what)
{
	struct sl_rays r = rays_rules(c);
	uint64_t given_up = 0, bounces = 0;

	assert_true(fabs(r.scale - 1) < 1e-15);
	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_particle p = rays_trace(&r, 5, id);

		assert_true(p.fate == SL_FATE_lit || p.fate == SL_FATE_max_steps);
		assert_true(p.weight == 1.0f);
		given_up += p.fate == SL_FATE_max_steps;
		bounces += p.collisions;
	}
	print_message("%s: %.2f hits per ray, %llu rays ended by max_steps\n", what,
		(double)bounces / RAYS, (unsigned long long)given_up);
	assert_true(given_up < RAYS / 1000 && bounces > RAYS / 4);
}

/* Under a sky of radiance 1, a surface that reflects or emits 1 in total cannot be seen. */
TEST(furnaces_are_white)
{
	for (int i = 0; i < 4; i++) {
		double reflectance = i / 2 ? 0.6 : 1, emission = 1 - reflectance;
		struct sl_rays_config c = rays_scene(vector(1, -4, 1), vector(0, 0, 0.3), 8);

		c.source = i % 2;
		c.sky = 1;
		rays_add_sphere(
			&c, vector(-0.6, 0, 0.5), 0.5, SL_RAYS_DIFFUSE, reflectance, emission);
		rays_add_sphere(
			&c, vector(0.5, 0, 0.5), 0.5, SL_RAYS_MIRROR, reflectance, emission);
		rays_add_sphere(
			&c, vector(0.5, 0, 0.5), 0.2, SL_RAYS_MIRROR, reflectance, emission);
		rays_add_box(&c, vector(-0.3, 0.4, -0.2), vector(0.4, 1.1, 1.3), SL_RAYS_DIFFUSE,
			reflectance, emission);
		rays_add_box(&c, vector(-1.4, -0.7, 0), vector(-1.3, 0.7, 1), SL_RAYS_MIRROR,
			reflectance, emission);
		rays_add_plane(&c, vector(0, 0, 0), vector(0.1, 0, 1), SL_RAYS_DIFFUSE, reflectance,
			emission);
		check_furnace(&c, i / 2 ? "emitting" : "reflecting");
	}
}

/* Inside a closed surface a camera sees 1 in every direction. */
TEST(closed_furnaces_are_white)
{
	for (int i = 0; i < 4; i++) {
		struct sl_rays_config c = rays_scene(vector(0.2, -0.4, 0.1), vector(0, 1, 0.3), 8);

		if (i % 2)
			rays_add_sphere(&c, vector(0.1, 0.1, 0), 1.7, i / 2, 0.7, 0.3);
		else
			rays_add_box(
				&c, vector(-1, -1.2, -0.7), vector(2, 1, 0.9), i / 2, 0.7, 0.3);
		check_furnace(&c, "closed");
	}
}

/* --- exchange of light ------------------------------------------------------------------------ */

/* Returns the mean radiance of n rays; sets its standard error. */
static double radiance(const struct sl_rays *r, uint64_t seed, uint64_t n, double *error)
{
	double sum = 0, square = 0;

	for (uint64_t id = 0; id < n; id++) {
		struct sl_particle p = rays_trace(r, seed, id);
		double seen = p.fate == SL_FATE_lit ? (double)p.weight * r->scale : 0;

		assert_int_not_equal(p.fate, SL_FATE_max_steps);
		sum += seen;
		square += seen * seen;
	}
	sum /= (double)n;
	*error = sqrt((square / (double)n - sum * sum) / (double)n);
	return sum;
}

static void check_radiance(const struct sl_rays *r, uint64_t seed, double want, const char *what)
{
	double error, got = radiance(r, seed, RAYS, &error);

	print_message("%s: %.6f, expected %.6f, %+.1f sigma\n", what, got, want,
		error > 0 ? (got - want) / error : 0);
	assert_true(fabs(got - want) <= 4 * error + 1e-7 * want);
}

/*
 * An emitting sphere inside a hollow one. From any point of the wall the fraction F = (r1/r2)^2 of
 * diffuse flights ends at the inner sphere, the rest at the wall: L = rho (F L1 + (1 - F) L).
 */
TEST(concentric_spheres)
{
	static const double sizes[] = {0.3, 0.8}, reflectances[] = {0.5, 0.9};

	for (int i = 0; i < 4; i++) {
		double r1 = sizes[i % 2], rho = reflectances[i / 2], F = r1 * r1 / 1.44;
		struct sl_rays_config c = rays_scene(vector(0, -1, 0), vector(0, -2, 0), 1);
		struct sl_rays r;

		rays_add_sphere(&c, vector(0, 0, 0), r1, SL_RAYS_DIFFUSE, 0, 2.5);
		rays_add_sphere(&c, vector(0, 0, 0), 1.2, SL_RAYS_DIFFUSE, rho, 0);
		r = rays_rules(&c);
		check_radiance(&r, 7 + (uint64_t)i, rho * F * 2.5 / (1 - rho * (1 - F)),
			"concentric spheres");
	}
}

/* A point of a diffuse plane under a sphere of radiance 3 at height h: L = 3 rho (r/h)^2. */
TEST(sphere_over_a_plane)
{
	static const double heights[] = {0.6, 1, 3};

	for (int i = 0; i < 3; i++) {
		struct sl_rays_config c = rays_scene(vector(5, 0, 0.3), vector(0, 0, 0), 1);
		struct sl_rays r;

		c.camera.field_of_view = 1e-4;
		rays_add_plane(&c, vector(0, 0, 0), vector(0, 0, -2), SL_RAYS_DIFFUSE, 0.9, 0);
		rays_add_sphere(&c, vector(0, 0, heights[i]), 0.4, SL_RAYS_DIFFUSE, 0, 3);
		r = rays_rules(&c);
		check_radiance(&r, 17 + (uint64_t)i, 0.9 * 3 * 0.16 / (heights[i] * heights[i]),
			"ball over a plane");
	}
}

/*
 * View factors of two unit squares: parallel at distance 1
 * (0.199825) or at a right angle with a common edge (0.200044): Howell, A Catalog of Radiation Heat
 * Transfer Configuration Factors, C-11 and C-14.
 */
static void check_squares(const struct sl_rays *r, double want, const char *what)
{
	double error;
	uint64_t lit = 0;

	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_words w = sl_draw(23, id, 77);
		struct sl_particle p = {.id = id,
			.x = sl_uniform(w.at[0]),
			.y = sl_uniform(w.at[1]),
			.z = 1e-6f,
			.weight = 1.0f,
			.fate = SL_FATE_alive};

		sl_lambertian(&p, 0.0f, 0.0f, 1.0f, w.at[2], w.at[3]);
		sl_rays_advance(r, SL_EVERY_COLUMN, 23, &p, UINT32_MAX);
		lit += p.fate == SL_FATE_lit;
	}
	error = sqrt(want * (1 - want) / RAYS);
	print_message("%s: %.6f, expected %.6f\n", what, (double)lit / RAYS, want);
	assert_true(fabs((double)lit / RAYS - want) < 4 * error);
}

TEST(exchange_between_squares)
{
	struct sl_rays_config c = rays_scene(vector(0, -3, 0), vector(0, 0, 0), 1), d = c;
	struct sl_rays r;

	rays_add_box(&c, vector(0, 0, 1), vector(1, 1, 1.5), SL_RAYS_DIFFUSE, 0, 1);
	rays_add_box(&d, vector(1, 0, 0), vector(1.5, 1, 1), SL_RAYS_DIFFUSE, 0, 1);
	r = rays_rules(&c);
	check_squares(&r, 0.199825, "parallel squares");
	r = rays_rules(&d);
	check_squares(&r, 0.200044, "squares at a right angle");
}
