/*
 * histories.c - what all models promise, for random options: every value is in the range of its column, constant columns
 * are constant, and steps can be taken one by one. Also that histories end where the geometry says.
 */
#define SL_MODEL_HOST
#include <stdio.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/models/cavity.h"
#include "stages/models/rays.h"
#include "stages/models/slab.h"
#include "stages/models/source_detector.h"

enum { RECIPES = 3000, PARTICLES = 60, MAX_STEPS = 300 };

/* The value of a column, if it is a number that range() can bound. */
static double column_of(const struct sl_particle *p, int column)
{
	const struct sl_column_facts *facts = &sl_column_facts[column];
	const char *at = (const char *)p + facts->in_particle;
	uint32_t bits = 0;
	float real;

	if (facts->type == SL_TYPE_F32) {
		memcpy(&real, at, sizeof(real));
		return (double)real;
	}
	memcpy(&bits, at, facts->bytes < sizeof(bits) ? facts->bytes : sizeof(bits));
	return bits;
}

static void check_columns(const struct sl_recipe *r, const struct sl_particle *p)
{
	const struct sl_model *m = sl_models[r->model];
	struct sl_particle values = {0};
	sl_column_set constants = m->constants(r->rules.bytes, &values);

	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		double value = column_of(p, c), lo, hi, slack;

		if (!SL_HAS(m->columns, c))
			continue;
		if (SL_HAS(constants, c))
			assert_true(value == column_of(&values, c));
		if (!m->range(r->rules.bytes, (enum sl_column)c, &lo, &hi))
			continue;
		slack = 2e-6 * fmax(fabs(lo), fabs(hi));
		if (!(value >= lo - slack && value <= hi + slack))
			fail_msg("column %s: %g is not in %g to %g", sl_column_facts[c].name, value,
				lo, hi);
	}
}

/* --- where histories end ---------------------------------------------------------------------- */

static void check_slab(const struct sl_slab *r, const struct sl_particle *p)
{
	float thickness = r->layer[r->layers - 1].bottom;

	assert_int_equal(p->fate == SL_FATE_roulette, p->weight == 0.0f);
	assert_true(r->below > 0.0f ? p->fate != SL_FATE_absorbed : p->weight == 1.0f);
	if (p->fate == SL_FATE_reflected || p->fate == SL_FATE_specular)
		assert_true(p->z == 0.0f && p->w < 0.0f);
	if (p->fate == SL_FATE_transmitted)
		assert_true(p->z == thickness && p->w > 0.0f);
	if (p->fate == SL_FATE_hit)
		assert_true(r->detector.entrance ? p->z == 0.0f && p->w < 0.0f
						 : p->z == thickness && p->w > 0.0f);
	if (p->fate == SL_FATE_absorbed || p->fate == SL_FATE_roulette)
		assert_true(p->collisions > 0);
}

static void check_cavity(const struct sl_cavity *r, const struct sl_particle *p)
{
	double radius = (double)r->radius, z = r->type == SL_CAVITY_SPHERE ? (double)p->z : 0;
	double off = sqrt((double)p->x * (double)p->x + (double)p->y * (double)p->y + z * z);
	bool on_wall = p->fate != SL_FATE_reflected && p->fate != SL_FATE_transmitted;

	if (p->steps > 0)
		assert_true(
			on_wall ? fabs(off - radius) < 3e-7 * radius : off < radius * (1 + 3e-7));
	if (p->steps > 0)
		assert_int_equal(p->steps - p->collisions, !on_wall || p->fate == SL_FATE_escaped);
	if (p->fate == SL_FATE_reflected)
		assert_true(p->z == 0.0f && p->w < 0.0f);
	if (p->fate == SL_FATE_transmitted)
		assert_true(p->z == r->length && p->w > 0.0f);
	if (p->fate == SL_FATE_escaped)
		assert_true(p->z >= r->port);
}

static void check_flight(const struct sl_source_detector *r, const struct sl_particle *p)
{
	if (p->fate == SL_FATE_hit && r->detector != SL_DETECTOR_SPHERE)
		assert_true(fabsf(p->z / r->distance - 1) < 1e-5f);
	if (p->fate != SL_FATE_hit)
		assert_true(p->pixel == 0);
}

static void check_place(const struct sl_recipe *r, const struct sl_particle *p)
{
	const void *rules = &r->rules;

	if (r->model == SL_MODEL_slab || r->model == SL_MODEL_slab_paths)
		check_slab((const struct sl_slab *)rules, p);
	if (r->model == SL_MODEL_cavity)
		check_cavity((const struct sl_cavity *)rules, p);
	if (r->model == SL_MODEL_source_detector)
		check_flight((const struct sl_source_detector *)rules, p);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void check_state(const struct sl_recipe *r, const struct sl_particle *p)
{
	bool steps = sl_models[r->model]->steps;

	assert_true(is_finite(p) && fabs(excess_length(p)) < 2e-5 && p->time >= 0.0f);
	assert_true(!steps || p->collisions <= p->steps);
	assert_true(p->fate == SL_FATE_alive || SL_HAS(sl_fates_of(r), p->fate));
	assert_true(p->fate != SL_FATE_max_steps || p->steps == MAX_STEPS);
	check_columns(r, p);
	check_place(r, p);
}

/* Single steps, two halves and all steps at once give the same end. */
static void check_history(const struct sl_recipe *r, uint64_t id)
{
	struct sl_particle p = start_of(r, id), start = p, at_once = p, in_two = p;
	uint32_t n = 0;

	assert_true(p.id == id);
	check_state(r, &p);
	for (float before = p.time; p.fate == SL_FATE_alive; before = p.time) {
		advance(r, &p, 0);
		advance(r, &p, 1);
		check_state(r, &p);
		assert_true(p.time >= before);
		n++;
		assert_true(!sl_models[r->model]->steps || p.steps == n);
	}
	advance(r, &at_once, UINT32_MAX);
	advance(r, &in_two, n / 2);
	advance(r, &in_two, n - n / 2);
	assert_memory_equal(&p, &at_once, sizeof(p));
	assert_memory_equal(&p, &in_two, sizeof(p));
	advance(r, &p, 1); /* nothing changes after the end */
	assert_memory_equal(&p, &at_once, sizeof(p));
	assert_true(n > 0 || start.fate != SL_FATE_alive);
}

TEST(histories_keep_what_models_promise)
{
	for (uint64_t seed = 0; seed < RECIPES; seed++) {
		struct sl_recipe r = recipe_at_random(generating_model(seed), seed, MAX_STEPS);

		if (!sl_sampling_selects())
			continue;
		print_message("seed %llu\n", (unsigned long long)seed);
		for (uint64_t id = 0; id < PARTICLES; id++)
			check_history(&r, id % 2 ? UINT64_MAX - id : id);
	}
}

/* No ray leaves a closed surface of any position and size, empty or with a sphere inside that reflects rays to the wall. */
TEST(closed_scenes_do_not_leak)
{
	static const double sizes[] = {1e-9, 1, 1e9}, places[] = {0, 3, 3000};
	static const char *const surface[] = {"diffuse", "mirror"};

	for (int i = 0; i < 3 * 3 * 8; i++) {
		double s = sizes[i / 24], x = s * places[i / 8 % 3], z = x / 3;
		char wall[512], inner[512] = "";
		struct sl_recipe r;

		if (i % 2)
			snprintf(wall, sizeof(wall),
				"sphere: {center: [%.17g cm, %.17g cm, %.17g cm], radius: %g cm}",
				x, -x, z, s);
		else
			snprintf(wall, sizeof(wall),
				"box: {from: [%.17g cm, %.17g cm, %.17g cm], to: [%.17g cm, %.17g cm, %.17g cm]}",
				x - s, -x - s / 2, z - s, x + s, -x + 3 * s, z + s);
		if (i / 4 % 2)
			snprintf(inner, sizeof(inner),
				", {sphere: {center: [%.17g cm, %.17g cm, %.17g cm], radius: %g cm}, "
				"surface: %s, reflectance: 1}",
				x - s / 2, -x, z, s / 4, surface[i / 3 % 2]);
		r = recipe_of(
			"rays: {camera: {position: [%.17g cm, %.17g cm, %.17g cm], look_at: [%.17g cm, "
			"%.17g cm, %.17g cm], up: [0.1, 0.2, 1]}, objects: [{%s, surface: %s, "
			"reflectance: 1}%s]}",
			x + s / 3, -x, z, x, -x, z, wall, surface[i / 2 % 2], inner);
		for (uint64_t id = 0; id < 100; id++) {
			struct sl_particle p = end_of(&r, id);

			assert_int_equal(p.fate, SL_FATE_max_steps);
			assert_true(p.collisions == 1000 && p.time > 0.0f && is_finite(&p) &&
				    fabs(excess_length(&p)) < 2e-6);
		}
	}
}
