/*
 * rays.c - tests the model rays: flights against formulas in double, images of known scenes,
 * mirrors, random rays, closed scenes.
 */
#include "tests/support/models/rays_check.h"

/* --- flights ---------------------------------------------------------------------------------- */

/* The distance to a sphere in double; negative: none. */
static double want_sphere(const struct sl_particle *p, const double center[3], double radius)
{
	double x = (double)p->x - center[0], y = (double)p->y - center[1];
	double z = (double)p->z - center[2];
	double b = x * (double)p->u + y * (double)p->v + z * (double)p->w;
	double a = 1 + excess_length(p), c = x * x + y * y + z * z - radius * radius;
	double root = b * b - a * c;

	if (root < 0)
		return -1;
	return c < 0 ? (sqrt(root) - b) / a : b < 0 ? c / (sqrt(root) - b) : -1;
}

/* The same for a box, through each of its faces. */
static double want_box(const struct sl_particle *p, const double from[3], const double to[3])
{
	const double at[3] = {(double)p->x, (double)p->y, (double)p->z};
	const double along[3] = {(double)p->u, (double)p->v, (double)p->w};
	double nearest = -1;

	for (int k = 0; k < 6; k++) {
		int axis = k % 3;
		double t = ((k < 3 ? from : to)[axis] - at[axis]) / along[axis];
		bool on = t > 0;

		for (int i = 0; i < 3; i++)
			on = on && (i == axis || (at[i] + t * along[i] >= from[i] &&
							 at[i] + t * along[i] <= to[i]));
		if (on && (nearest < 0 || t < nearest))
			nearest = t;
	}
	return nearest;
}

/* Rays from far, near and inside. Rays that graze a surface may hit or miss it. */
TEST(distances_to_surfaces_are_exact)
{
	static const double center[3] = {0.3, -0.2, 0.4}, from[3] = {-0.5, -0.3, -0.8},
			    to[3] = {0.4, 0.9, 0.7};
	struct sl_rays_config c = rays_scene(vector(0, -3, 0), vector(0, 0, 0), 1);
	int differ = 0, met = 0;
	struct sl_rays r;

	rays_add_sphere(&c, vector(center[0], center[1], center[2]), 0.7, 0, 0, 0);
	rays_add_box(&c, vector(from[0], from[1], from[2]), vector(to[0], to[1], to[2]), 0, 0, 0);
	rays_add_plane(&c, vector(0, 0.2, 0.1), vector(0.3, -4, 1), 0, 0, 0);
	r = rays_rules(&c);
	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_words w = sl_draw(3, id, 0);
		float size = id % 2 ? 2.0f : 30.0f;
		struct sl_particle p = {.x = size * (sl_uniform(w.at[0]) - 0.5f),
			.y = size * (sl_uniform(w.at[1]) - 0.5f),
			.z = size * (sl_uniform(w.at[2]) - 0.5f)};
		double want[3], rise, height;

		w = sl_draw(3, id, 1);
		sl_deflect(&p, 0.0f, 0.0f, 1.0f,
			2.0f * sqrtf(sl_uniform(w.at[0]) * sl_uniform(~w.at[0])),
			fmaf(-2.0f, sl_uniform(w.at[0]), 1.0f), 2.0f * sl_uniform(w.at[1]));
		want[0] = want_sphere(&p, center, 0.7);
		want[1] = want_box(&p, from, to);
		rise = 0.3 * (double)p.u - 4 * (double)p.v + (double)p.w;
		height = 0.3 * (double)p.x - 4 * ((double)p.y - 0.2) + (double)p.z - 0.1;
		want[2] = height * rise < 0 ? -height / rise : -1;
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
	assert_true(met > RAYS / 4 && differ < 10);
}

/* --- mirrors and pixels ----------------------------------------------------------------------- */

/* Returns the pixel of an n by n image, with z upward, in which a camera at from sees a point. */
static int want_pixel(struct sl_vector from, struct sl_vector place, double half, int n)
{
	/* the camera looks along y: right is x, up is z */
	double ahead = place.at[1] - from.at[1];
	double i = ((place.at[0] - from.at[0]) / ahead / half + 1) / 2 * n;
	double j = (1 - (place.at[2] - from.at[2]) / ahead / half) / 2 * n;

	return (int)j * n + (int)i;
}

/* All lit rays must belong to the pixel in which the point is expected. */
static void check_spot(const struct sl_rays_config *c, struct sl_vector place, const char *what)
{
	enum { N = 32 };
	struct sl_rays r = rays_rules(c);
	uint64_t lit = 0, right = 0;
	int want = want_pixel(c->camera.position, place, tan(0.35), N);

	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_particle p = rays_trace(&r, 31, id);

		assert_int_equal(p.pixel, id % (N * N));
		lit += p.fate == SL_FATE_lit;
		right += p.fate == SL_FATE_lit && (int)p.pixel == want;
	}
	print_message("%s: %llu rays are lit in pixel %d\n", what, (unsigned long long)lit, want);
	assert_true(lit > 10 && lit == right);
}

TEST(images_show_the_scene)
{
	struct sl_rays_config c = rays_scene(vector(0.3, -4, 0.1), vector(0.3, 0, 0.1), 32);
	struct sl_rays_config d;

	c.camera.up = vector(0, 0, 1);
	d = c;
	rays_add_sphere(&c, vector(0.93, 1, -0.62), 0.03, SL_RAYS_DIFFUSE, 0, 1);
	check_spot(&c, vector(0.93, 1, -0.62), "a lamp");
	/* a mirror at y = 2 shows the lamp at 4 - y; a screen hides the direct view */
	rays_add_plane(&d, vector(0, 2, 0), vector(0, 1, 0), SL_RAYS_MIRROR, 0.95, 0);
	rays_add_sphere(&d, vector(-0.5, 1.5, 0.8), 0.03, SL_RAYS_DIFFUSE, 0, 1);
	rays_add_box(&d, vector(-0.53, 1.3, 0.73), vector(-0.42, 1.4, 0.83), SL_RAYS_DIFFUSE, 0, 0);
	check_spot(&d, vector(-0.5, 2.5, 0.8), "a lamp in a mirror");
}

/*
 * Isotropic radiance: the fraction of the rays entering the sphere that hit a convex body is the
 * ratio of the surface areas (Cauchy).
 */
TEST(random_rays_are_isotropic)
{
	struct sl_rays_config c = rays_scene(vector(0, 0, 0), vector(0, 0, 0), 1);
	double area = 2 * (0.5 * 2 + 0.5 * 0.3 + 2 * 0.3), want, x = 0, w = 0;
	struct sl_rays r;
	uint64_t met = 0;

	c.source = SL_RAYS_AT_RANDOM;
	rays_add_box(&c, vector(1, 1, 1), vector(1.5, 3, 1.3), SL_RAYS_DIFFUSE, 0, 0);
	r = rays_rules(&c);
	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_particle p = sl_rays_generate(&r, SL_EVERY_COLUMN, 3, id);

		x += (double)p.x - 1.25;
		w += (double)p.w;
		assert_int_equal(p.pixel, 0);
		sl_rays_advance(&r, SL_EVERY_COLUMN, 3, &p, UINT32_MAX);
		met += p.fate == SL_FATE_absorbed;
		assert_true(p.fate == SL_FATE_absorbed || p.fate == SL_FATE_escaped);
	}
	want = area / (4 * 3.14159265358979 * (double)r.radius * (double)r.radius);
	assert_true(fabs((double)r.radius - sqrt(0.25 + 4 + 0.09) / 2) < 0.002);
	assert_true(fabs(x / RAYS) < 4 * (double)r.radius / sqrt(3.0 * RAYS));
	assert_true(fabs(w / RAYS) < 4 / sqrt(3.0 * RAYS));
	assert_true(fabs((double)met / RAYS - want) < 4 * sqrt(want * (1 - want) / RAYS));
}

/* --- closed scenes ---------------------------------------------------------------------------- */

/* No ray leaves a closed surface of any position and size. */
static void check_closed(const struct sl_rays_config *c, uint64_t rays)
{
	enum { STEPS = 300 };
	struct sl_rays r = rays_rules(c);

	r.max_steps = STEPS;
	for (uint64_t id = 0; id < rays; id++) {
		struct sl_particle p = rays_trace(&r, 41, id);

		assert_int_equal(p.fate, SL_FATE_max_steps);
		assert_int_equal(p.collisions, STEPS);
		assert_true(is_finite(&p) && fabs(excess_length(&p)) < 2e-6 && p.time > 0.0f);
	}
}

TEST(closed_scenes_do_not_leak)
{
	static const double sizes[] = {1e-9, 1, 1e9}, places[] = {0, 3, 3000};
	const uint64_t rays = 400;

	for (int i = 0; i < 3 * 3 * 4; i++) {
		double size = sizes[i / 12], at = size * places[i / 4 % 3];
		struct sl_vector center = vector(at, -at, at / 3);
		struct sl_rays_config c =
			rays_scene(vector(at + size / 3, -at, at / 3), vector(at, -at, at / 3), 4);

		if (i % 2)
			rays_add_sphere(&c, center, size, i / 2 % 2, 1, 0);
		else
			rays_add_box(&c, vector(at - size, -at - size / 2, at / 3 - size),
				vector(at + size, -at + 3 * size, at / 3 + size), i / 2 % 2, 1, 0);
		check_closed(&c, rays);
		/* a sphere inside, which reflects rays back to the wall */
		rays_add_sphere(&c, vector(at - size / 2, -at, at / 3), size / 4, i / 3 % 2, 1, 0);
		check_closed(&c, rays);
	}
}

/* Single steps give the same end as all steps at once. */
TEST(steps_can_be_taken_one_by_one)
{
	struct sl_rays_config c = rays_scene(vector(0.2, -0.9, 0.3), vector(0, 0, 0), 4);
	struct sl_rays r;

	rays_add_box(&c, vector(-1, -1, -1), vector(1, 1, 1), SL_RAYS_DIFFUSE, 0.9, 0.01);
	rays_add_sphere(&c, vector(0, 0, 0), 0.6, SL_RAYS_MIRROR, 0.95, 0);
	r = rays_rules(&c);
	for (uint64_t id = 0; id < 3000; id++) {
		struct sl_particle at_once = sl_rays_generate(&r, SL_EVERY_COLUMN, 9, id);
		struct sl_particle p = at_once;

		sl_rays_advance(&r, SL_EVERY_COLUMN, 9, &at_once, UINT32_MAX);
		for (uint32_t n = 1; p.fate == SL_FATE_alive; n++) {
			sl_rays_advance(&r, SL_EVERY_COLUMN, 9, &p, 1);
			assert_true(p.steps == n && p.collisions == n);
		}
		assert_memory_equal(&p, &at_once, sizeof(p));
	}
}
