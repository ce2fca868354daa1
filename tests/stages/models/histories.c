/*
 * histories.c - what all models promise, for random options: every value is in the range of its
 * column, constant columns are constant, steps can be taken one by one, and an observer sees them
 * and their random numbers. Also that histories end where the geometry says.
 */
#define SL_MODEL_HOST
#include <stdio.h>

#include "stages/models/models.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/host/host.h"
#include "stages/models/cavity.h"
#include "stages/models/rays.h"
#include "stages/models/slab.h"
#include "stages/models/source_detector.h"
#include "stages/models/voxels.h"

enum { RECIPES = 3000, PARTICLES = 40 };

static void check_columns(const struct sl_recipe *r, const struct sl_particle *p)
{
	const struct sl_model *m = r->model;
	struct sl_particle values = {0};
	sl_column_set constants = m->constants(r->rules.bytes, &values);

	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		double value = column_value(p, (enum sl_column)c), lo, hi, slack;

		if (!SL_HAS(m->columns, c))
			continue;
		if (SL_HAS(constants, c))
			assert_true(value == column_value(&values, (enum sl_column)c));
		if (!m->range(r->rules.bytes, (enum sl_column)c, &lo, &hi) ||
			p->fate == SL_FATE_missed) /* stays at the source */
			continue;
		slack = 2e-6 * fmax(fabs(lo), fabs(hi));
		if (!(value >= lo - slack && value <= hi + slack))
			fail_msg("column %s: %g is not in %g to %g", sl_column_facts[c].name, value,
				lo, hi);
	}
}

/* --- where histories end ---------------------------------------------------------------------- */

/* Whether p leaves through the face z = 0, or through the one at end. */
static bool is_leaving(const struct sl_particle *p, bool entrance, float end)
{
	return entrance ? p->z == 0.0f && p->w < 0.0f : p->z == end && p->w > 0.0f;
}

static void check_slab(const struct sl_slab *r, const struct sl_particle *p)
{
	bool hit = p->fate == SL_FATE_hit,
	     back = p->fate == SL_FATE_reflected || p->fate == SL_FATE_specular;

	assert_int_equal(p->fate == SL_FATE_roulette, p->weight == 0.0f);
	assert_true(r->roulette.below > 0.0f ? p->fate != SL_FATE_absorbed : p->weight == 1.0f);
	if (hit || back || p->fate == SL_FATE_transmitted)
		assert_true(is_leaving(
			p, hit ? r->detector.entrance : back, r->layer[r->layers - 1].bottom));
	if (p->fate == SL_FATE_absorbed || p->fate == SL_FATE_roulette)
		assert_true(p->collisions > 0);
}

static void check_cavity(const struct sl_cavity *r, const struct sl_particle *p)
{
	double radius = (double)r->radius, z = r->type == SL_CAVITY_SPHERE ? (double)p->z : 0;
	double off = sqrt((double)p->x * (double)p->x + (double)p->y * (double)p->y + z * z);
	bool leaves = p->fate == SL_FATE_reflected || p->fate == SL_FATE_transmitted;

	if (p->steps > 0) {
		assert_true(
			leaves ? off < radius * (1 + 3e-7) : fabs(off - radius) < 3e-7 * radius);
		assert_int_equal(p->steps - p->collisions, leaves || p->fate == SL_FATE_escaped);
	}
	if (leaves)
		assert_true(is_leaving(p, p->fate == SL_FATE_reflected, r->length));
	if (p->fate == SL_FATE_escaped)
		assert_true(p->z >= r->port);
}

static void check_flight(const struct sl_source_detector *r, const struct sl_particle *p)
{
	double x = (double)p->x, y = (double)p->y, radius = (double)r->radius;
	double distance = (double)r->distance, z = (double)p->z - distance;

	if (p->fate == SL_FATE_hit && r->detector != SL_DETECTOR_SPHERE)
		assert_true(fabs(z) < 1e-5 * distance);
	if (p->fate == SL_FATE_hit && r->detector == SL_DETECTOR_SPHERE) { /* in front */
		double inward = (double)p->u * x + (double)p->v * y + (double)p->w * z;

		assert_true(fabs(x * x + y * y + z * z - radius * radius) <
				    1e-5 * (distance * distance + radius * radius) &&
			    inward < 1e-2 * (distance + radius));
	}
	if (p->fate != SL_FATE_hit)
		assert_true(p->pixel == 0);
}

/* A particle is in the volume, and the direction of one that leaves points out of its voxel. */
static void check_voxels(const struct sl_voxels *r, const struct sl_particle *p)
{
	const float at[] = {p->x, p->y, p->z}, along[] = {p->u, p->v, p->w},
		    edge[] = {r->dx, r->dy, r->dz};
	bool on_face = false;

	assert_int_equal(p->fate == SL_FATE_roulette, p->weight == 0.0f);
	for (int a = 0; a < 3; a++)
		on_face |= at[a] == roundf(at[a] / edge[a]) * edge[a] && along[a] != 0.0f;
	if (p->fate == SL_FATE_escaped || p->fate == SL_FATE_hit || p->fate == SL_FATE_specular)
		assert_true(on_face);
}

static void check_place(const struct sl_recipe *r, const struct sl_particle *p)
{
	if (r->model == sl_models[SL_MODEL_slab] || r->model == sl_models[SL_MODEL_slab_paths])
		check_slab(RULES_IN(slab, r), p);
	if (r->model == sl_models[SL_MODEL_voxels] || r->model == sl_models[SL_MODEL_voxels_paths])
		check_voxels(RULES_IN(voxels, r), p);
	if (r->model == sl_models[SL_MODEL_cavity])
		check_cavity(RULES_IN(cavity, r), p);
	if (r->model == sl_models[SL_MODEL_source_detector])
		check_flight(RULES_IN(source_detector, r), p);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* What an observer has seen of a history. */
struct seen {
	const struct sl_recipe *r;
	uint64_t id, most,
		stop_at; /* steps: at most by the recipe; those after which the observer stops */
	uint64_t states, draws; /* states with the start; draws of the last step */
	struct sl_particle p;   /* after it */
};

/* A particle of a list may start outside, and before the time 0: by smear.time, or at a cavity. */
static bool is_of_list(const struct seen *seen)
{
	struct sl_recipe copy = *seen->r;
	const struct sl_rules_data *data = sl_recipe_data(&copy);

	return data && data->list.n > 0;
}

static void check_state(const struct seen *seen)
{
	const struct sl_particle *p = &seen->p;
	bool steps = seen->r->model->steps;

	assert_true(is_finite(p) && fabs(excess_length(p)) < 2e-5 &&
		    (p->time >= 0.0f || is_of_list(seen)));
	assert_true(p->id == seen->id);
	assert_true(!steps || (p->steps == seen->states - 1 && p->collisions <= p->steps));
	assert_true(p->fate == SL_FATE_alive || SL_HAS(sl_fates_of(seen->r), p->fate));
	assert_true(p->fate != SL_FATE_max_steps || p->steps == seen->most);
	if (p->steps == 0 && is_of_list(seen))
		return;
	check_columns(seen->r, p);
	check_place(seen->r, p);
}

/* Compares columns, because particles also have padding bytes. */
static void expect_same(const struct sl_particle *a, const struct sl_particle *b)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_column_facts *facts = &sl_column_facts[c];

		if (memcmp((const char *)a + facts->in_particle,
			    (const char *)b + facts->in_particle, facts->bytes) != 0)
			fail_msg("column %s of particle %llu differs", facts->name,
				(unsigned long long)b->id);
	}
}

static const char *event_of(const struct sl_particle *before, const struct sl_particle *p)
{
	if (p->fate != SL_FATE_alive)
		return sl_fate_facts[p->fate].name;
	if (p->collisions > before->collisions)
		return "collision";
	return p->u != before->u || p->v != before->v || p->w != before->w ? "surface" : "flight";
}

static bool see_step(void *ctx, const struct sl_history_step *s)
{
	struct seen *seen = (struct seen *)ctx;
	struct sl_particle p = s->number == 0 ? start_of(seen->r, seen->id) : seen->p;

	advance(seen->r, &p, 0);
	advance(seen->r, &p, s->number > 0);
	expect_same(&s->p, &p);
	assert_string_equal(s->event, s->number == 0 ? "start" : event_of(&seen->p, &p));
	assert_true((p.time >= seen->p.time || s->number == 0) && s->number == seen->states++);
	seen->p = p;
	seen->draws = 0;
	check_state(seen);
	return s->number != seen->stop_at;
}

/* The slab draws one block a step, of its number, and may draw others for the start. */
static void see_draw(void *ctx, uint64_t block, struct sl_words random)
{
	struct seen *seen = (struct seen *)ctx;
	struct sl_words expected = sl_draw(seen->r->seed, seen->id, block);

	assert_memory_equal(&random, &expected, sizeof(random));
	seen->draws++;
	if (seen->r->model == sl_models[SL_MODEL_slab])
		assert_true(seen->draws == 1 ? block == seen->states - 1
					     : seen->states == 1 && block >= SL_SLAB_PLACE_BLOCK);
}

static uint64_t follow(struct seen *seen, uint64_t stop_at)
{
	const struct sl_history_observer o = {.step = see_step, .draw = see_draw, .ctx = seen};
	struct sl_particle end;

	seen->states = 0;
	seen->p = (struct sl_particle){.id = seen->id};
	seen->stop_at = stop_at;
	end = sl_follow_history(seen->r, seen->id, NULL, &o);
	expect_same(&end, &seen->p);
	return seen->states - 1;
}

/*
 * Single steps, two parts, all steps at once and the loops of the host give the same end, after
 * which nothing changes.
 */
static void check_history(const struct sl_recipe *r, uint64_t id, uint64_t most)
{
	struct seen seen = {.r = r, .id = id, .most = most};
	uint32_t n = (uint32_t)follow(&seen, UINT64_MAX);
	struct sl_particle p = seen.p, at_once = start_of(r, id), in_two = at_once,
			   made = sl_compute_particle(r, id);

	assert_true(p.fate != SL_FATE_alive);
	expect_same(&made, &p);
	advance(r, &at_once, UINT32_MAX);
	expect_same(&at_once, &p);
	advance(r, &at_once, 1);
	expect_same(&at_once, &p);
	advance(r, &in_two, n / 2);
	assert_int_equal(n / 2, follow(&seen, n / 2));
	expect_same(&seen.p, &in_two);
	advance(r, &in_two, n - n / 2);
	expect_same(&in_two, &p);
}

TEST(histories_keep_what_models_promise)
{
	for (uint64_t seed = 0; seed < RECIPES; seed++) {
		uint32_t most = seed % 8 ? 300 : 3;
		struct sl_recipe r = recipe_at_random(generating_model(seed), seed, most);

		if (!sl_sampling_selects())
			continue;
		r.seed = seed % 3 ? 1 : UINT64_MAX;
		print_message("seed %llu\n", (unsigned long long)seed);
		for (uint64_t id = 0; id < PARTICLES; id++)
			check_history(&r, id % 2 ? UINT64_MAX - id : id, most);
	}
}

/*
 * No ray leaves a closed surface of any position and size, empty or with a sphere inside that
 * reflects rays to the wall.
 */
TEST(closed_scenes_do_not_leak)
{
	static const double sizes[] = {1e-9, 1, 1e9}, places[] = {0, 3, 3000};
	static const char *const surface[] = {"diffuse", "mirror"};

#define AT "[%.17g cm, %.17g cm, %.17g cm]"
	for (int i = 0; i < 3 * 3 * 8; i++) {
		double s = sizes[i / 24], x = s * places[i / 8 % 3], z = x / 3;
		char wall[512], inner[512] = "";
		struct sl_recipe r;

		if (i % 2)
			snprintf(wall, sizeof(wall), "sphere: {center: " AT ", radius: %g cm}", x,
				-x, z, s);
		else
			snprintf(wall, sizeof(wall), "box: {from: " AT ", to: " AT "}", x - s,
				-x - s / 2, z - s, x + s, -x + 3 * s, z + s);
		if (i / 4 % 2)
			snprintf(inner, sizeof(inner),
				", {sphere: {center: " AT
				", radius: %g cm}, surface: %s, reflectance: 1}",
				x - s / 2, -x, z, s / 4, surface[i / 3 % 2]);
		r = recipe_of(
			"rays: {camera: {position: " AT ", look_at: " AT
			", up: [0.1, 0.2, 1]}, objects: [{%s, surface: %s, reflectance: 1}%s]}",
			x + s / 3, -x, z, x, -x, z, wall, surface[i / 2 % 2], inner);
		for (uint64_t id = 0; id < 100; id++) {
			struct sl_particle p = end_of(&r, id);

			assert_int_equal(p.fate, SL_FATE_max_steps);
			assert_true(p.collisions == 1000 && p.time > 0.0f && is_finite(&p) &&
				    fabs(excess_length(&p)) < 2e-6);
		}
	}
#undef AT
}
