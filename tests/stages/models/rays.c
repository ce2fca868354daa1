/*
 * stages/models/rays.c - the rules of rays: flights against the formulas in double, white furnaces,
 * exchange between surfaces against closed forms, mirrors, scenes that nothing leaves.
 */
#define SL_MODEL_HOST
#include "tests/support/check.h"
#include "tests/support/model_check.h"

#include "stages/models/rays.h"

static const struct sl_model *const model = &sl_rays_model;
static struct sl_common common = {.max_steps = 1000};

enum { RAYS = 200000 };

#define NONE ((double)NAN)
#define NO                               \
	{                                \
		{                        \
			NONE, NONE, NONE \
		}                        \
	}

/* --- scenes ----------------------------------------------------------------------------------- */

static struct sl_vector vector(double x, double y, double z)
{
	return (struct sl_vector){{x, y, z}};
}

/* A scene of nothing yet, seen from a place in a direction through so many pixels. */
static struct sl_rays_config scene(struct sl_vector from, struct sl_vector to, uint64_t pixels)
{
	return (struct sl_rays_config){.camera = {.position = from,
					       .look_at = to,
					       .up = vector(0.1, 0.2, 1),
					       .field_of_view = 0.7,
					       .pixels = {2, {pixels, pixels}}}};
}

/* Adds an object without a shape. */
static struct sl_rays_object *add(
	struct sl_rays_config *c, int surface, double reflectance, double emission)
{
	static const struct sl_rays_object nothing = {{NO, NONE}, {NO, NO}, {NO, NO}, 0, 0, 0};
	struct sl_rays_object *o = &c->object[c->n_objects++];

	*o = nothing;
	o->surface = surface;
	o->reflectance = reflectance;
	o->emission = emission;
	return o;
}

static void add_sphere(struct sl_rays_config *c, struct sl_vector center, double radius,
	int surface, double reflectance, double emission)
{
	struct sl_rays_object *o = add(c, surface, reflectance, emission);

	o->sphere.center = center;
	o->sphere.radius = radius;
}

static void add_box(struct sl_rays_config *c, struct sl_vector from, struct sl_vector to,
	int surface, double reflectance, double emission)
{
	struct sl_rays_object *o = add(c, surface, reflectance, emission);

	o->box.from = from;
	o->box.to = to;
}

static void add_plane(struct sl_rays_config *c, struct sl_vector point, struct sl_vector normal,
	int surface, double reflectance, double emission)
{
	struct sl_rays_object *o = add(c, surface, reflectance, emission);

	o->plane.point = point;
	o->plane.normal = normal;
}

/* The rules of a configuration that has nothing wrong. */
static struct sl_rays rules_of(const struct sl_rays_config *c)
{
	struct model_check m;
	struct sl_rays r;

	memset(&r, 0, sizeof(r));
	model_check_begin(
		&m, c->source == SL_RAYS_OF_CAMERA ? " camera.position camera.look_at " : "");
	model->make(c, &common, &r, &m.check);
	assert_string_equal("", m.said);
	return r;
}

static struct sl_particle trace(const struct sl_rays *r, uint64_t seed, uint64_t id)
{
	struct sl_particle p = sl_rays_generate(r, SL_EVERY_COLUMN, seed, id);

	sl_rays_advance(r, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);
	assert_true(p.fate != SL_FATE_alive && SL_HAS(SL_FATES_rays, p.fate));
	assert_true(p.weight >= 0.0f && p.weight <= 1.0f);
	return p;
}

/* The radiance that n rays see, and its standard error. */
static double radiance(const struct sl_rays *r, uint64_t seed, uint64_t n, double *error)
{
	double sum = 0, square = 0;

	for (uint64_t id = 0; id < n; id++) {
		struct sl_particle p = trace(r, seed, id);
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

/* To a box likewise, through each of its faces. */
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

/* Rays from far, near and inside; those that graze may do either. */
static void distances_are_right(void **state)
{
	static const double center[3] = {0.3, -0.2, 0.4}, from[3] = {-0.5, -0.3, -0.8},
			    to[3] = {0.4, 0.9, 0.7};
	struct sl_rays_config c = scene(vector(0, -3, 0), vector(0, 0, 0), 1);
	int differ = 0, met = 0;
	struct sl_rays r;

	(void)state;
	add_sphere(&c, vector(center[0], center[1], center[2]), 0.7, 0, 0, 0);
	add_box(&c, vector(from[0], from[1], from[2]), vector(to[0], to[1], to[2]), 0, 0, 0);
	add_plane(&c, vector(0, 0.2, 0.1), vector(0.3, -4, 1), 0, 0, 0);
	r = rules_of(&c);
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
			double got = (double)sl_meet(&r.surface[k], &p).distance;

			met += want[k] >= 0;
			if ((got < 0) != (want[k] < 0))
				differ++;
			else if (got >= 0)
				assert_true(fabs(got - want[k]) * (k == 2 ? fabs(rise) / 5 : 1) <
					    2e-3 + 1e-5 * want[k]);
		}
	}
	print_message("%d meetings, %d of grazing rays differ\n", met, differ);
	assert_true(met > RAYS / 4 && differ < 10);
}

/* --- furnaces --------------------------------------------------------------------------------- */

/* All rays see exactly 1, but for those that max_steps ends. */
static void check_furnace(const struct sl_rays_config *c, const char *what)
{
	struct sl_rays r = rules_of(c);
	uint64_t given_up = 0, bounces = 0;

	assert_true(fabs(r.scale - 1) < 1e-15);
	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_particle p = trace(&r, 5, id);

		assert_true(p.fate == SL_FATE_lit || p.fate == SL_FATE_max_steps);
		assert_true(p.weight == 1.0f);
		given_up += p.fate == SL_FATE_max_steps;
		bounces += p.collisions;
	}
	print_message("%s: %.2f surfaces a ray, %llu given up\n", what, (double)bounces / RAYS,
		(unsigned long long)given_up);
	assert_true(given_up < RAYS / 1000 && bounces > RAYS / 4);
}

/* Under a sky of 1, what reflects all, or sends out what it does not reflect, is not seen. */
static void furnaces_are_white(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		double reflectance = i / 2 ? 0.6 : 1, emission = 1 - reflectance;
		struct sl_rays_config c = scene(vector(1, -4, 1), vector(0, 0, 0.3), 8);

		c.source = i % 2;
		c.sky = 1;
		add_sphere(&c, vector(-0.6, 0, 0.5), 0.5, SL_FINISH_DIFFUSE, reflectance, emission);
		add_sphere(&c, vector(0.5, 0, 0.5), 0.5, SL_FINISH_MIRROR, reflectance, emission);
		add_sphere(&c, vector(0.5, 0, 0.5), 0.2, SL_FINISH_MIRROR, reflectance, emission);
		add_box(&c, vector(-0.3, 0.4, -0.2), vector(0.4, 1.1, 1.3), SL_FINISH_DIFFUSE,
			reflectance, emission);
		add_box(&c, vector(-1.4, -0.7, 0), vector(-1.3, 0.7, 1), SL_FINISH_MIRROR,
			reflectance, emission);
		add_plane(&c, vector(0, 0, 0), vector(0.1, 0, 1), SL_FINISH_DIFFUSE, reflectance,
			emission);
		check_furnace(&c, i / 2 ? "emitting" : "reflecting");
	}
}

/* Within a closed surface, a camera sees 1 wherever it looks. */
static void closed_furnaces_are_white(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sl_rays_config c = scene(vector(0.2, -0.4, 0.1), vector(0, 1, 0.3), 8);

		if (i % 2)
			add_sphere(&c, vector(0.1, 0.1, 0), 1.7, i / 2, 0.7, 0.3);
		else
			add_box(&c, vector(-1, -1.2, -0.7), vector(2, 1, 0.9), i / 2, 0.7, 0.3);
		check_furnace(&c, "closed");
	}
}

/* --- exchange of light ------------------------------------------------------------------------ */

/*
 * A ball that shines within a hollow one. From any point of the wall the part F = (r1/r2)^2 of a
 * diffuse flight ends at the ball, all else at the wall: L = rho (F L1 + (1 - F) L).
 */
static void concentric_spheres(void **state)
{
	static const double sizes[] = {0.3, 0.8}, reflectances[] = {0.5, 0.9};

	(void)state;
	for (int i = 0; i < 4; i++) {
		double r1 = sizes[i % 2], rho = reflectances[i / 2], F = r1 * r1 / 1.44;
		struct sl_rays_config c = scene(vector(0, -1, 0), vector(0, -2, 0), 1);
		struct sl_rays r;

		add_sphere(&c, vector(0, 0, 0), r1, SL_FINISH_DIFFUSE, 0, 2.5);
		add_sphere(&c, vector(0, 0, 0), 1.2, SL_FINISH_DIFFUSE, rho, 0);
		r = rules_of(&c);
		check_radiance(&r, 7 + (uint64_t)i, rho * F * 2.5 / (1 - rho * (1 - F)),
			"concentric spheres");
	}
}

/* A point of a white plane, under a ball of radiance 3 at height h: L = rho 3 (r/h)^2. */
static void a_ball_over_a_plane(void **state)
{
	static const double heights[] = {0.6, 1, 3};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sl_rays_config c = scene(vector(5, 0, 0.3), vector(0, 0, 0), 1);
		struct sl_rays r;

		c.camera.field_of_view = 1e-4;
		add_plane(&c, vector(0, 0, 0), vector(0, 0, -2), SL_FINISH_DIFFUSE, 0.9, 0);
		add_sphere(&c, vector(0, 0, heights[i]), 0.4, SL_FINISH_DIFFUSE, 0, 3);
		r = rules_of(&c);
		check_radiance(&r, 17 + (uint64_t)i, 0.9 * 3 * 0.16 / (heights[i] * heights[i]),
			"ball over a plane");
	}
}

/*
 * Of what leaves a unit square evenly and diffusely, a part meets another at distance 1, parallel
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

static void squares_see_each_other(void **state)
{
	struct sl_rays_config c = scene(vector(0, -3, 0), vector(0, 0, 0), 1), d = c;
	struct sl_rays r;

	(void)state;
	add_box(&c, vector(0, 0, 1), vector(1, 1, 1.5), SL_FINISH_DIFFUSE, 0, 1);
	add_box(&d, vector(1, 0, 0), vector(1.5, 1, 1), SL_FINISH_DIFFUSE, 0, 1);
	r = rules_of(&c);
	check_squares(&r, 0.199825, "parallel squares");
	r = rules_of(&d);
	check_squares(&r, 0.200044, "squares at a right angle");
}

/* --- mirrors and pixels ----------------------------------------------------------------------- */

/* The pixel of a picture of n by n, upright along z, where a camera at from sees a place. */
static int want_pixel(struct sl_vector from, struct sl_vector place, double half, int n)
{
	/* the camera looks along y: right is x, up is z */
	double ahead = place.at[1] - from.at[1];
	double i = ((place.at[0] - from.at[0]) / ahead / half + 1) / 2 * n;
	double j = (1 - (place.at[2] - from.at[2]) / ahead / half) / 2 * n;

	return (int)j * n + (int)i;
}

/* Pixels in which something is lit are those about the place where it should be seen. */
static void check_spot(const struct sl_rays_config *c, struct sl_vector place, const char *what)
{
	enum { N = 32 };
	struct sl_rays r = rules_of(c);
	uint64_t lit = 0, right = 0;
	int want = want_pixel(c->camera.position, place, tan(0.35), N);

	for (uint64_t id = 0; id < RAYS; id++) {
		struct sl_particle p = trace(&r, 31, id);

		assert_int_equal(p.pixel, id % (N * N));
		lit += p.fate == SL_FATE_lit;
		right += p.fate == SL_FATE_lit && (int)p.pixel == want;
	}
	print_message("%s: %llu rays are lit in pixel %d\n", what, (unsigned long long)lit, want);
	assert_true(lit > 10 && lit == right);
}

static void pictures_show_what_is_there(void **state)
{
	struct sl_rays_config c = scene(vector(0.3, -4, 0.1), vector(0.3, 0, 0.1), 32);
	struct sl_rays_config d;

	(void)state;
	c.camera.up = vector(0, 0, 1);
	d = c;
	add_sphere(&c, vector(0.93, 1, -0.62), 0.03, SL_FINISH_DIFFUSE, 0, 1);
	check_spot(&c, vector(0.93, 1, -0.62), "a lamp");
	/* a mirror at y = 2: the lamp behind a screen is seen at 4 - y, and in the mirror alone */
	add_plane(&d, vector(0, 2, 0), vector(0, 1, 0), SL_FINISH_MIRROR, 0.95, 0);
	add_sphere(&d, vector(-0.5, 1.5, 0.8), 0.03, SL_FINISH_DIFFUSE, 0, 1);
	add_box(&d, vector(-0.53, 1.3, 0.73), vector(-0.42, 1.4, 0.83), SL_FINISH_DIFFUSE, 0, 0);
	check_spot(&d, vector(-0.5, 2.5, 0.8), "a lamp in a mirror");
}

/*
 * Isotropic radiance all around: of the rays that enter the sphere about a convex body, as many
 * meet it as its area is of the sphere's (Cauchy).
 */
static void random_rays_come_from_everywhere(void **state)
{
	struct sl_rays_config c = scene(vector(0, 0, 0), vector(0, 0, 0), 1);
	double area = 2 * (0.5 * 2 + 0.5 * 0.3 + 2 * 0.3), want, x = 0, w = 0;
	struct sl_rays r;
	uint64_t met = 0;

	(void)state;
	c.source = SL_RAYS_AT_RANDOM;
	add_box(&c, vector(1, 1, 1), vector(1.5, 3, 1.3), SL_FINISH_DIFFUSE, 0, 0);
	r = rules_of(&c);
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

/* No ray leaves what is closed, in millions of flights, wherever and however large it is. */
static void check_closed(const struct sl_rays_config *c, uint64_t rays)
{
	struct sl_rays r = rules_of(c);

	for (uint64_t id = 0; id < rays; id++) {
		struct sl_particle p = trace(&r, 41, id);

		assert_int_equal(p.fate, SL_FATE_max_steps);
		assert_int_equal(p.collisions, common.max_steps);
		assert_true(is_finite(&p) && fabs(excess_length(&p)) < 2e-6 && p.time > 0.0f);
	}
}

static void nothing_leaks(void **state)
{
	static const double sizes[] = {1e-9, 1, 1e9}, places[] = {0, 3, 3000};
	const uint64_t rays = 400;

	(void)state;
	common.max_steps = 300;
	for (int i = 0; i < 3 * 3 * 4; i++) {
		double size = sizes[i / 12], at = size * places[i / 4 % 3];
		struct sl_vector center = vector(at, -at, at / 3);
		struct sl_rays_config c =
			scene(vector(at + size / 3, -at, at / 3), vector(at, -at, at / 3), 4);

		if (i % 2)
			add_sphere(&c, center, size, i / 2 % 2, 1, 0);
		else
			add_box(&c, vector(at - size, -at - size / 2, at / 3 - size),
				vector(at + size, -at + 3 * size, at / 3 + size), i / 2 % 2, 1, 0);
		check_closed(&c, rays);
		/* a ball within, from the wall of which rays come back to the wall */
		add_sphere(&c, vector(at - size / 2, -at, at / 3), size / 4, i / 3 % 2, 1, 0);
		check_closed(&c, rays);
	}
	common.max_steps = 1000;
}

/* All steps at once, or in parts: the same end. */
static void steps_can_be_taken_one_by_one(void **state)
{
	struct sl_rays_config c = scene(vector(0.2, -0.9, 0.3), vector(0, 0, 0), 4);
	struct sl_rays r;

	(void)state;
	add_box(&c, vector(-1, -1, -1), vector(1, 1, 1), SL_FINISH_DIFFUSE, 0.9, 0.01);
	add_sphere(&c, vector(0, 0, 0), 0.6, SL_FINISH_MIRROR, 0.95, 0);
	r = rules_of(&c);
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

/* --- the configuration ------------------------------------------------------------------------ */

static void check_complaint(const struct sl_rays_config *c, const char *given, const char *want)
{
	struct model_check m;
	struct sl_rays r;

	memset(&r, 0, sizeof(r));
	model_check_begin(&m, given);
	model->make(c, &common, &r, &m.check);
	assert_string_equal(want, m.said);
}

static void bad_scenes_are_refused(void **state)
{
	static const char given[] = " camera.position camera.look_at ";
	const struct sl_rays_config none = scene(vector(0, -3, 0), vector(0, 0, 0), 2);
	struct sl_rays_config c = none;

	(void)state;
	add(&c, 0, 0, 0);
	check_complaint(&c, given,
		"objects[0]: has no shape (an object is a sphere, a box or a plane), try sphere: "
		"{center: [0, 0, 0], radius: 1 cm}\n");
	c.object[0].sphere.radius = 1;
	check_complaint(
		&c, given, "objects[0].sphere.center: is missing (a sphere needs it), add it\n");
	c.object[0].plane.normal = vector(0, 0, 1);
	check_complaint(&c, given,
		"objects[0]: has more than one shape (an object is a sphere, a box or a plane), try "
		"an object for each\n");
	c = none;
	add_sphere(&c, vector(100, 0, 0), 0.001, 0, 1, 0.5);
	check_complaint(&c, given,
		"objects[0].emission: is above 0 with a reflectance of 1 (no ray would end at that "
		"light), make one of them less\n"
		"objects[0].sphere.radius: is too small so far from the origin (positions have 24 "
		"bits), make it at least 0.0061 cm or move the scene\n");
	c = none;
	add_box(&c, vector(0, 0, 0), vector(1, -1, 1), 0, 0, 0);
	add_plane(&c, vector(0, 0, 0), vector(0, 0, 0), 0, 0, 0);
	check_complaint(&c, given,
		"objects[0].box.to: is not ahead of from along y (a box has an inside, and "
		"positions have 24 bits), make it larger by 6.1e-05 cm or more\n"
		"objects[1].plane.normal: has no length (it is a direction), try [0, 0, 1]\n");
}

static void bad_cameras_are_refused(void **state)
{
	static const char given[] = " camera.position camera.look_at ";
	const struct sl_rays_config none = scene(vector(0, -3, 0), vector(0, 0, 0), 2);
	struct sl_rays_config c = none;

	(void)state;
	c.camera.look_at = c.camera.position;
	check_complaint(&c, given,
		"camera.look_at: is where the camera is (it would look nowhere), move one of them\n"
		"camera.up: is along the line of sight (it would not say what is upright), try "
		"[0, 1, 0]\n");
	c = none;
	c.camera.up = vector(0, -7, 0);
	c.camera.pixels.n = 1;
	check_complaint(&c, given,
		"camera.pixels: has 1 numbers (width and height are needed), write [256, 256]\n");
	c.camera.pixels.n = 2;
	check_complaint(&c, given,
		"camera.up: is along the line of sight (it would not say what is upright), try "
		"[0, 0, 1]\n");
	c.source = SL_RAYS_AT_RANDOM;
	check_complaint(&c, given,
		"camera.position: does nothing here (random rays have no camera), remove it "
		"or try source: camera\n"
		"camera.look_at: does nothing here (random rays have no camera), remove it or "
		"try source: camera\n"
		"source: is random in a scene of planes alone (there is nothing to enter), add a "
		"sphere or a box, or try camera\n");
	c = none;
	c.camera.position = vector(NONE, NONE, NONE);
	check_complaint(&c, " camera.look_at ",
		"camera.position: is missing (a camera needs it), add it\n");
}

static void check_range(const struct sl_rays *r, enum sl_column column, double lo, double hi)
{
	double low = 1, high = -1;

	assert_true(model->range(r, column, &low, &high));
	assert_true(fabs(low - lo) < 1e-12 && fabs(high - hi) < 1e-12);
}

static void ranges_and_constants(void **state)
{
	struct sl_rays_config c = scene(vector(0, -3, 0), vector(0, 0, 0), 16);
	struct sl_picture picture;
	struct sl_particle values;
	struct sl_rays r;
	double lo, hi;

	(void)state;
	add_sphere(&c, vector(0, 0, 0), 1, 0, 0.5, 2);
	r = rules_of(&c);
	assert_int_equal(model->constants(&r, &values), SL_BIT(SL_COLUMN_weight));
	assert_true(values.weight == 1.0f && fabs(r.scale - 4) < 1e-15);
	c.sky = 1;
	r = rules_of(&c);
	assert_int_equal(model->constants(&r, &values), 0);
	assert_true(r.sky == 0.25f && r.surface[0].light == 1.0f);
	check_range(&r, SL_COLUMN_v, -1, 1);
	check_range(&r, SL_COLUMN_weight, 0, 1);
	check_range(&r, SL_COLUMN_pixel, 0, 255);
	check_range(&r, SL_COLUMN_steps, 0, 1000);
	check_range(&r, SL_COLUMN_collisions, 0, 1000);
	check_range(&r, SL_COLUMN_fate, 0, SL_FATE_lit);
	assert_false(model->range(&r, SL_COLUMN_z, &lo, &hi));
	assert_true(model->picture(&r, &picture) && picture.in_turn && picture.width == 16 &&
		    picture.height == 16 && picture.fate == SL_FATE_lit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_right),
		cmocka_unit_test(furnaces_are_white),
		cmocka_unit_test(closed_furnaces_are_white),
		cmocka_unit_test(concentric_spheres),
		cmocka_unit_test(a_ball_over_a_plane),
		cmocka_unit_test(squares_see_each_other),
		cmocka_unit_test(pictures_show_what_is_there),
		cmocka_unit_test(random_rays_come_from_everywhere),
		cmocka_unit_test(nothing_leaks),
		cmocka_unit_test(steps_can_be_taken_one_by_one),
		cmocka_unit_test(bad_scenes_are_refused),
		cmocka_unit_test(bad_cameras_are_refused),
		cmocka_unit_test(ranges_and_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
