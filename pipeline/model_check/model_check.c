/* model_check.c - see model_check.h. */
#include "pipeline/model_check/model_check.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "stages/host/host.h"
#include "stages/rounds/rounds.h"

enum { FEW_STEPS = 3 };

/* Some particles of a recipe, computed by the loops of a level. */
struct computed {
	struct sl_batch b;
	void *memory;
};

static enum sl_status make(const struct sl_recipe *r, uint32_t n, struct computed *c)
{
	struct sl_arena a = {0};

	memset(c, 0, sizeof(*c));
	for (int pass = 0; pass < 2; pass++) {
		sl_layout_columns(&a, sl_stored_columns(r), n, &c->b.columns);
		c->b.keep = (uint8_t *)sl_cut(&a, n);
		if (pass == 0) {
			SL_TRY(sl_host_get_zeroed(1, a.used, &c->memory));
			a = (struct sl_arena){.base = c->memory, .size = a.used};
		}
	}
	c->b.n = n;
	return SL_OK;
}

static void give(struct computed *c)
{
	sl_memory_give(SL_HOST, c->memory);
}

/* Computes the particles to their ends, by at most so many steps per call. */
static void compute(const struct sl_recipe *r, const struct sl_rule_loops *loops, uint32_t steps,
	struct computed *c)
{
	loops->generate(&r->rules, r->seed, &c->b, c->b.n, NULL);
	do {
		sl_active_set_begin(&c->b, steps);
		loops->advance(&r->rules, r->seed, &c->b, c->b.n, NULL);
	} while (c->b.active_set.alive > 0);
}

/* The first stored column in which two particles differ; SL_COLUMN_COUNT: none. */
static int differs(
	const struct sl_recipe *r, const struct sl_particle *p, const struct sl_particle *q)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_column_facts *f = &sl_column_facts[c];

		if (SL_HAS(sl_stored_columns(r), c) &&
			memcmp((const char *)p + f->in_particle, (const char *)q + f->in_particle,
				f->bytes) != 0)
			return c;
	}
	return SL_COLUMN_COUNT;
}

static struct sl_particle particle(const struct sl_recipe *r, const struct computed *c, uint32_t i)
{
	struct sl_particle p = sl_load(&c->b.columns, sl_stored_columns(r), i);

	p.id = i;
	return p;
}

/* Compares all particles; how says how those of c were computed. */
static enum sl_status compare(const struct sl_recipe *r, const struct computed *expected,
	const struct computed *c, const char *how)
{
	for (uint32_t i = 0; i < c->b.n; i++) {
		const struct sl_particle p = particle(r, expected, i), q = particle(r, c, i);
		const int column = differs(r, &p, &q);

		if (column < SL_COLUMN_COUNT)
			return sl_fail(SL_CHECK_FAILED,
				"model %s: particle %u has another %s with %s than with all steps in "
				"one call on one lane; a rule may depend only on the columns of "
				"SL_COLUMNS_%s, its own parameters and sl_draw(), and on nothing else "
				"that it keeps between calls",
				r->model->name, i, sl_column_facts[column].name, how,
				r->model->name);
	}
	return SL_OK;
}

/* Takes the steps of each particle one by one. */
static void follow(const struct sl_recipe *r, struct computed *c)
{
	for (uint32_t i = 0; i < c->b.n; i++) {
		struct sl_particle p = r->model->one_step(&r->rules, r->seed, i, NULL, NULL, NULL);

		while (p.fate == SL_FATE_alive)
			p = r->model->one_step(&r->rules, r->seed, i, &p, NULL, NULL);
		sl_store(&c->b.columns, sl_stored_columns(r), i, &p);
	}
}

/* Checks the ends of all particles: their fates, and the values of columns that have a range. */
static enum sl_status check_ends(const struct sl_recipe *r, const struct computed *c)
{
	const struct sl_model *m = r->model;

	for (uint32_t i = 0; i < c->b.n; i++)
		SL_TRY(sl_check_fate(m, i, c->b.columns.fate[i]));
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		double lo, hi;

		if (!SL_HAS(sl_stored_columns(r), k) ||
			!m->range(r->rules.bytes, (enum sl_column)k, &lo, &hi))
			continue;
		for (uint32_t i = 0; i < c->b.n; i++) {
			const char *items =
				(const char *)sl_column_at(&c->b.columns, (enum sl_column)k);
			const double v = sl_column_value(
				(enum sl_column)k, items + (size_t)i * sl_column_facts[k].bytes);

			if (!(v >= lo && v <= hi))
				return sl_fail(SL_CHECK_FAILED,
					"model %s: %s of particle %u is %.9g, but sl_%s_range() says %.9g to "
					"%.9g; correct the range or the rule",
					m->name, sl_column_facts[k].name, i, v, m->name, lo, hi);
		}
	}
	return SL_OK;
}

enum sl_status sl_model_check_rules(const struct sl_recipe *r, uint32_t n, int *levels)
{
	const struct sl_rule_loops *baseline = &r->model->loops[SL_LEVEL_baseline];
	const struct sl_loops *l;
	SL_CLOSED_BY(give) struct computed expected = {.memory = NULL}, c = {.memory = NULL};
	char how[64];

	SL_TRY(make(r, n, &expected));
	SL_TRY(make(r, n, &c));
	compute(r, baseline, UINT32_MAX, &expected);
	SL_TRY(check_ends(r, &expected));
	follow(r, &c);
	SL_TRY(compare(r, &expected, &c, "one step per call"));
	*levels = 0;
	for (size_t k = 0; (l = sl_loops_at(k)) != NULL; k++) {
		if (sl_find_loops(l->level) != l)
			continue;
		++*levels;
		compute(r, &r->model->loops[l->number], FEW_STEPS, &c);
		snprintf(
			how, sizeof(how), "%d steps per call on CPU level %s", FEW_STEPS, l->level);
		SL_TRY(compare(r, &expected, &c, how));
	}
	return SL_OK;
}
