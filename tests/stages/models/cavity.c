/*
 * cavity.c - tests the model cavity: where flights end, against formulas in double; how many
 * particles are alive after each flight; edge cases.
 */
#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/model_check.h"

#include "stages/models/cavity.h"

static const struct sl_model *const model = &sl_cavity_model;
static const struct sl_model_common common = {.max_steps = 1000};

static const struct sl_cavity_config sphere = {.type = SL_CAVITY_SPHERE,
	.radius = 5,
	.length = (double)NAN,
	.port = 0.01,
	.reflectance = 0.98,
	.speed = 29.9792458};

static const struct sl_cavity_config tube = {.type = SL_CAVITY_TUBE,
	.radius = 2,
	.length = 3,
	.port = (double)NAN,
	.reflectance = 1,
	.speed = 29.9792458};

/* The rules of a valid configuration. */
static struct sl_cavity rules_of(struct sl_cavity_config c)
{
	struct model_check m;
	struct sl_cavity r;

	memset(&r, 0, sizeof(r));
	model_check_begin(&m, c.type == SL_CAVITY_SPHERE ? " port " : " length ");
	model->make(&c, &common, &r, &m.check);
	assert_string_equal("", m.messages);
	return r;
}

/* --- starts ----------------------------------------------------------------------------------- */

/* Starts are uniform over the opening: the mean square distance from the axis is radius^2/2. */
TEST(starts_fill_the_opening)
{
	struct sl_cavity r = rules_of(tube);
	double square = 0, x = 0, y = 0, w = 0;
	enum { N = 1000000 };

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_cavity_generate(&r, SL_EVERY_COLUMN, 1, id);

		assert_true(p.id == id && p.z == 0.0f && p.w > 0.0f && p.weight == 1.0f);
		assert_true(fabs(excess_length(&p)) < 1e-6);
		x += (double)p.x / 2;
		y += (double)p.y / 2;
		square += ((double)p.x * (double)p.x + (double)p.y * (double)p.y) / 4;
		w += (double)p.w;
	}
	assert_true(fabs(x / N) < 4 * sqrt(0.25 / N) && fabs(y / N) < 4 * sqrt(0.25 / N));
	assert_true(fabs(square / N - 0.5) < 4 * sqrt(1.0 / 12 / N));
	assert_true(fabs(w / N - 2.0 / 3) < 4 * sqrt(1.0 / 18 / N));
}

TEST(spheres_are_entered_opposite_the_port)
{
	struct sl_cavity r = rules_of(sphere);

	for (uint64_t id = 0; id < 1000; id++) {
		struct sl_particle p = sl_cavity_generate(&r, SL_EVERY_COLUMN, 1, id);

		assert_true(p.x == 0.0f && p.y == 0.0f && p.z == -5.0f && p.w > 0.0f);
	}
}

/* --- the sphere ------------------------------------------------------------------------------- */

/*
 * Wherever a flight starts, its end is uniform on the sphere: each coordinate is uniform over its
 * range (Archimedes), with the mean square radius^2/3.
 */
TEST(flights_end_uniformly_on_the_sphere)
{
	struct sl_cavity_config c = sphere;
	enum { N = 300000, FLIGHTS = 3, TENTHS = 10 };
	uint64_t in_tenth[FLIGHTS][TENTHS] = {{0}};
	struct sl_cavity r;

	c.port = 0;
	c.reflectance = 1 - 1e-12;
	r = rules_of(c);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_cavity_generate(&r, SL_EVERY_COLUMN, 1, id);

		for (int k = 0; k < FLIGHTS; k++) {
			int tenth;

			sl_cavity_advance(&r, SL_EVERY_COLUMN, 1, &p, 1);
			tenth = (int)((p.z / 5.0f + 1.0f) * 5.0f);
			in_tenth[k][tenth < TENTHS ? tenth : TENTHS - 1]++;
		}
	}
	for (int k = 0; k < FLIGHTS; k++)
		for (int i = 0; i < TENTHS; i++)
			assert_true(fabs((double)in_tenth[k][i] - 0.1 * N) < 5 * sqrt(0.09 * N));
}

/* The expected fraction alive after k flights is ((1 - port) reflectance)^k. */
TEST(the_survivor_curve_is_exact)
{
	enum { N = 400000, FLIGHTS = 200 };
	struct sl_cavity r = rules_of(sphere);
	uint64_t ended[FLIGHTS + 1] = {0}, alive = N;
	double worst = 0;

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_cavity_generate(&r, SL_EVERY_COLUMN, 1, id);

		sl_cavity_advance(&r, SL_EVERY_COLUMN, 1, &p, FLIGHTS);
		if (p.fate != SL_FATE_alive)
			ended[p.steps]++;
	}
	for (int k = 1; k <= FLIGHTS; k++) {
		double share = pow(0.99 * 0.98, k), sigma = sqrt(N * share * (1 - share));

		alive -= ended[k];
		worst = fmax(worst, fabs((double)alive - N * share) / sigma);
	}
	print_message("alive after each of %d flights: within %.1f sigma\n", FLIGHTS, worst);
	assert_true(worst < 4);
}

/* --- the tube --------------------------------------------------------------------------------- */

/* The distance to the wall along p's direction, in double. */
static double want_distance(const struct sl_particle *p, double radius)
{
	double x = (double)p->x, y = (double)p->y, u = (double)p->u, v = (double)p->v;
	double a = u * u + v * v, b = x * u + y * v, c = radius * radius - x * x - y * y;

	return (sqrt(b * b + a * c) - b) / a;
}

TEST(distances_to_the_wall_are_exact)
{
	struct sl_cavity r = rules_of(tube);
	double worst = 0;

	for (uint64_t id = 0; id < 200000; id++) {
		struct sl_particle p = sl_cavity_generate(&r, SL_EVERY_COLUMN, 2, id);
		double want = want_distance(&p, 2), got = (double)sl_cavity_tube_distance(&r, &p);

		worst = fmax(worst, fabs(got - want) / (want + 1e-3));
	}
	print_message("distance to the wall: largest relative error %.1g\n", worst);
	assert_true(worst < 2e-4); /* of points at the rim: a difference of squares */
}

TEST(flights_along_the_axis_pass)
{
	const float cosines[] = {1.0f, -1.0f};
	struct sl_cavity r = rules_of(tube);

	for (int i = 0; i < 2; i++) {
		struct sl_particle p = {
			.x = 2.0f, .z = 1.5f, .w = cosines[i], .steps = (uint32_t)i};

		sl_cavity_tube_flight(&r, &p);
		assert_int_equal(p.fate, i ? SL_FATE_reflected : SL_FATE_transmitted);
		assert_true(p.x == 2.0f && p.y == 0.0f && p.z == (i ? 0.0f : 3.0f));
		assert_true(fabs((double)p.time * 29.9792458 - 1.5) < 1e-6);
	}
}

/* --- lives ------------------------------------------------------------------------------------ */

static void check_place(const struct sl_cavity *r, const struct sl_particle *p)
{
	double radius = (double)r->radius, z = r->type == SL_CAVITY_SPHERE ? (double)p->z : 0;
	double off = sqrt((double)p->x * (double)p->x + (double)p->y * (double)p->y + z * z);
	bool on_wall = r->type == SL_CAVITY_SPHERE ||
	               (p->fate != SL_FATE_reflected && p->fate != SL_FATE_transmitted);

	assert_true(is_finite(p) && fabs(excess_length(p)) < 1e-6 && p->time >= 0.0f);
	assert_true(p->weight == 1.0f && p->steps <= r->max_steps);
	assert_true(on_wall ? fabs(off - radius) < 2e-7 * radius : off < radius * (1 + 2e-7));
	assert_int_equal(p->steps - p->collisions, !on_wall || p->fate == SL_FATE_escaped);
	if (r->type == SL_CAVITY_TUBE)
		assert_true(p->z >= 0.0f && p->z <= r->length);
	if (p->fate == SL_FATE_reflected)
		assert_true(p->z == 0.0f && p->w < 0.0f);
	if (p->fate == SL_FATE_transmitted)
		assert_true(p->z == r->length && p->w > 0.0f);
	if (p->fate == SL_FATE_escaped)
		assert_true(p->z >= r->port);
	if (p->fate == SL_FATE_max_steps)
		assert_true(p->steps == r->max_steps);
}

/* p stays in the cavity at each step; all steps at once give the same end. */
static void check_history(const struct sl_cavity *r, uint64_t id)
{
	struct sl_particle p = sl_cavity_generate(r, SL_EVERY_COLUMN, 9, id), at_once = p,
			   in_two = p;
	uint32_t n = 0;

	for (; p.fate == SL_FATE_alive; n++) {
		sl_cavity_advance(r, SL_EVERY_COLUMN, 9, &p, 1);
		check_place(r, &p);
		assert_int_equal(n + 1, p.steps);
	}
	assert_true(SL_HAS(SL_FATES_cavity, p.fate));
	sl_cavity_advance(r, SL_EVERY_COLUMN, 9, &at_once, UINT32_MAX);
	sl_cavity_advance(r, SL_EVERY_COLUMN, 9, &in_two, n / 2);
	sl_cavity_advance(r, SL_EVERY_COLUMN, 9, &in_two, n - n / 2);
	assert_memory_equal(&p, &at_once, sizeof(p));
	assert_memory_equal(&p, &in_two, sizeof(p));
}

TEST(particles_stay_in_the_cavity)
{
	const double sizes[] = {1e-12, 1e-3, 1, 1e5, 1e12};

	for (int i = 0; i < 5 * 5 * 2; i++) {
		struct sl_cavity_config c = i % 2 ? tube : sphere;
		struct sl_cavity r;

		c.radius = sizes[i / 10];
		if (i % 2)
			c.length = sizes[i / 2 % 5];
		else
			c.port = 0.25 * (i / 2 % 5);
		r = rules_of(c);
		for (uint64_t id = 0; id < 500; id++)
			check_history(&r, id);
	}
}

/* A direction perpendicular to the axis, or almost: no end of the tube is reached. */
TEST(flights_across_the_axis_stay)
{
	const float cosines[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 0x1p-149f, -0x1p-149f};
	struct sl_cavity r = rules_of(tube);

	for (int i = 0; i < 6 * 2; i++) {
		struct sl_particle p = {.x = -2.0f,
			.z = i % 2 ? 3.0f : 0.0f,
			.u = 1.0f,
			.w = cosines[i / 2],
			.weight = 1.0f,
			.steps = 1};

		sl_cavity_tube_flight(&r, &p);
		if (p.fate == SL_FATE_alive)
			assert_true(p.x == 2.0f && fabs((double)p.time * 29.9792458 - 4) < 1e-5);
		p.steps = 1;
		p.collisions = p.fate == SL_FATE_alive;
		check_place(&r, &p);
	}
}

/* --- the configuration ------------------------------------------------------------------------ */

static void check_complaint(struct sl_cavity_config c, const char *given, const char *want)
{
	struct model_check m;
	struct sl_cavity r;

	model_check_begin(&m, given);
	model->make(&c, &common, &r, &m.check);
	assert_string_equal(want, m.messages);
}

TEST(bad_configurations_are_refused)
{
	struct sl_cavity_config closed = sphere;

	closed.port = 0;
	closed.reflectance = 1;
	check_complaint(sphere, " port ", "");
	check_complaint(tube, " length ", "");
	check_complaint(sphere, "", "port: is missing: a sphere needs it; add it\n");
	check_complaint(tube, "", "length: is missing: a tube needs it; add it\n");
	check_complaint(sphere, " port length ",
		"length: has no effect here: only a tube uses it; remove it or choose that\n");
	check_complaint(tube, " port length ",
		"port: has no effect here: only a sphere uses it; remove it or choose that\n");
	check_complaint(closed, " port ",
		"port: is 0 while reflectance is 1: no particle could leave or be absorbed; change one of them\n");
}

TEST(ranges_and_constants)
{
	struct sl_cavity round = rules_of(sphere), straight = rules_of(tube);
	struct sl_particle values;
	double lo, hi;

	check_range(model, &round, SL_COLUMN_x, -5, 5);
	check_range(model, &round, SL_COLUMN_z, -5, 5);
	check_range(model, &straight, SL_COLUMN_y, -2, 2);
	check_range(model, &straight, SL_COLUMN_z, 0, 3);
	check_range(model, &straight, SL_COLUMN_v, -1, 1);
	check_range(model, &straight, SL_COLUMN_steps, 0, 1000);
	check_range(model, &straight, SL_COLUMN_collisions, 0, 1000);
	check_range(model, &straight, SL_COLUMN_weight, 0, 1);
	check_range(model, &straight, SL_COLUMN_fate, 0, SL_FATE_escaped);
	assert_false(model->range(&round, SL_COLUMN_time, &lo, &hi));
	assert_int_equal(model->constants(&round, &values), SL_BIT(SL_COLUMN_weight));
	assert_true(values.weight == 1.0f);
}
