/*
 * history.c - tests that particles followed step by step end as those that the batch loops move,
 * and that the recorded random numbers are those of random.h.
 */
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"

#include "stages/host/history.h"
#include "stages/models/slab.h"

enum { N = 3000, WORDS_MOST = 24 };

/* The events of a history that the observer has recorded. */
struct seen {
	const struct sl_recipe *r;
	uint64_t id;
	uint64_t steps, draws, draws_of_step;
	uint64_t last_block;
	struct sl_particle p; /* after the last step */
	uint64_t stop_at;     /* the observer stops the history after this step */
	uint64_t *event;      /* how often each of words[] happened */
};

/* --- the words of events ---------------------------------------------------------------------- */

static const char *const words[] = {"start", "collision", "surface", "flight"};
enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

/* The number of an event: those of words[], then the fates. */
static int event_number(const char *event)
{
	int i = 0;

	while (i < N_WORDS && strcmp(words[i], event) != 0)
		i++;
	return i < N_WORDS ? i : N_WORDS + (int)sl_fate_find(event);
}

static bool has_turned(const struct sl_particle *a, const struct sl_particle *b)
{
	return a->u != b->u || a->v != b->v || a->w != b->w;
}

/* Checks that the name of the event fits the change of state. */
static void check_event(const struct seen *seen, const struct sl_history_step *s)
{
	bool collided = s->p.collisions > seen->p.collisions;
	int number = event_number(s->event);

	if (s->number == 0)
		assert_string_equal(s->event, "start");
	else if (s->p.fate != SL_FATE_alive)
		assert_int_equal(number, N_WORDS + s->p.fate);
	else if (collided)
		assert_string_equal(s->event, "collision");
	else
		assert_string_equal(s->event, has_turned(&seen->p, &s->p) ? "surface" : "flight");
	assert_true(number < WORDS_MOST);
	seen->event[number]++;
}

/* --- watching --------------------------------------------------------------------------------- */

/* Compares columns, because particles also have padding bytes. */
static void same_particle(const struct sl_particle *a, const struct sl_particle *b)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_column_facts *facts = &sl_column_facts[c];

		if (memcmp((const char *)a + facts->in_particle,
			    (const char *)b + facts->in_particle, facts->bytes) != 0)
			fail_msg("column %s of particle %llu differs", facts->name,
				(unsigned long long)b->id);
	}
}

static bool see_step(void *of, const struct sl_history_step *s)
{
	struct seen *seen = (struct seen *)of;

	assert_int_equal(s->number, seen->steps);
	assert_true(s->p.id == seen->id);
	assert_true(s->number == 0 || seen->p.fate == SL_FATE_alive);
	if (SL_HAS(sl_models[seen->r->model]->columns, SL_COLUMN_steps))
		assert_int_equal(s->p.steps, s->number);
	check_event(seen, s);
	seen->p = s->p;
	seen->steps++;
	seen->draws_of_step = 0;
	return s->number != seen->stop_at;
}

static void see_draw(void *of, uint64_t block, struct sl_words random)
{
	struct seen *seen = (struct seen *)of;
	struct sl_words expected = sl_draw(seen->r->seed, seen->id, block);

	assert_memory_equal(&random, &expected, sizeof(random));
	seen->last_block = block;
	seen->draws++;
	seen->draws_of_step++;
	if (seen->r->model == SL_MODEL_slab) /* one block a step, by its number */
		assert_true(seen->draws_of_step == 1 && block == seen->steps - 1);
}

static struct sl_particle follow(struct seen *seen)
{
	const struct sl_history_observer watcher = {
		.step = see_step, .draw = see_draw, .ctx = seen};

	return sl_follow_history(seen->r, seen->id, &watcher);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* Follows particles of r with the smallest and largest ids and compares each with the loops. */
static void follow_all(const struct sl_recipe *r, uint64_t n, uint64_t event[WORDS_MOST])
{
	for (uint64_t i = 0; i < n; i++) {
		struct seen seen = {.r = r,
			.id = i % 2 ? UINT64_MAX - i : i,
			.event = event,
			.stop_at = UINT64_MAX};
		struct sl_particle end = follow(&seen), made = sl_compute_particle(r, seen.id);

		same_particle(&end, &made);
		same_particle(&seen.p, &made);
		assert_true(end.fate != SL_FATE_alive);
		if (r->model == SL_MODEL_slab)
			assert_int_equal(seen.draws, seen.steps);
		if (r->model == SL_MODEL_source_detector) /* its flight draws nothing */
			assert_true(seen.draws == 2 && seen.last_block == 0 && seen.steps == 2);
	}
}

TEST(history_ends_as_in_the_loops)
{
	static const char *const all[] = {"start", "collision", "surface", "reflected",
		"transmitted", "absorbed", "max_steps", "hit", "missed", "blocked"};
	uint64_t event[WORDS_MOST] = {0};

	for (int m = 0; m < TEST_MODELS; m++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)m, N);

		follow_all(&r, N, event);
		r.seed = UINT64_MAX;
		if (r.model == SL_MODEL_slab)
			((struct sl_slab *)(void *)&r.rules)->max_steps = 3;
		follow_all(&r, N, event);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (event[event_number(all[i])] == 0)
			fail_msg("expected an event \"%s\", but none occurred", all[i]);
	assert_int_equal(event[event_number("flight")], 0);
}

/* A stopped history equals the beginning of the whole one. */
TEST(observer_stops_the_history)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, N);
	uint64_t event[WORDS_MOST] = {0};

	for (uint64_t id = 0; id < 100; id++) {
		struct seen whole = {.r = &r, .id = id, .stop_at = UINT64_MAX, .event = event};

		follow(&whole);
		for (uint64_t n = 0; n < whole.steps; n++) {
			struct seen cut = {.r = &r, .id = id, .stop_at = n, .event = event};
			struct sl_particle end = follow(&cut);

			assert_true(cut.steps == n + 1 && cut.draws == n + 1);
			same_particle(&end, &cut.p);
			assert_true((end.fate == SL_FATE_alive) == (cut.steps < whole.steps));
		}
	}
}
