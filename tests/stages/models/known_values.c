/*
 * known_values.c - compares the models with results in closed form, and what they say about their
 * columns. known_values.txt has configurations, each followed by what is true of it, in lines that
 * begin with a tab:
 *
 *	STEPS mean VALUE NUMBER    the mean of a value after start, a number of steps, or end (all steps)
 *	STEPS share FATE NUMBER    the fraction of the particles that have a fate then
 *	STEPS FATE VALUE NUMBER    each particle with the fate has this value, and some have the fate
 *	range COLUMN LO HI         the range that the model declares, or "unbounded"
 *	constant COLUMN NUMBER     the column is declared to have one value
 *	varies COLUMN              it is not
 *	same CONFIGURATION         it makes the same rules, byte for byte
 *	flight X Y Z U W STEPS FATE LENGTH PIXEL
 *	                           one step of a particle from there, with v = 0, that has made STEPS, at 10 cm/ns; a LENGTH of 0
 *	                           is not tested
 *
 * A mean may be wrong by 4.5 standard errors, which are those of the sample. Text after the number
 * is a comment. The sample is smaller for configurations that sampling.h does not select.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/models/models.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/models/models.h"

enum { N = 200000 };

/* --- values ----------------------------------------------------------------------------------- */

/* The cosine between the direction and the line from the origin. */
static double outward(const struct sl_particle *p)
{
	double x = (double)p->x, y = (double)p->y, z = (double)p->z;

	return (x * (double)p->u + y * (double)p->v + z * (double)p->w) / hypot(hypot(x, y), z);
}

static double radiance(const struct sl_recipe *r, const struct sl_particle *p)
{
	struct sl_image image = {.scale = 1};

	r->model->image(r->rules.bytes, &image); /* random rays make none */
	return p->fate == SL_FATE_absorbed || p->fate == SL_FATE_escaped
	               ? 0
	               : (double)p->weight * image.scale;
}

/* A column or one of the names below; ^N: its power; ==N: whether it is N. */
static double value_of(const char *name, const struct sl_recipe *r, const struct sl_particle *p)
{
	double radius = hypot((double)p->x, (double)p->y), value = 0, power = 1, equal = NAN;
	char base[32];

	if (sscanf(name, "%31[^^=]^%lf", base, &power) < 1 ||
		(strchr(name, '=') && sscanf(strchr(name, '='), "==%lf", &equal) != 1))
		fail_msg("known_values.txt: %s", name);
	if (strcmp(base, "r") == 0)
		value = radius;
	else if (sl_column_find(base) < SL_COLUMN_COUNT)
		value = column_value(p, sl_column_find(base));
	else if (strcmp(base, "x+y") == 0)
		value = (double)(p->x + p->y);
	else if (strcmp(base, "inside") == 0)
		value = radius < 1;
	else if (strcmp(base, "sideways") == 0)
		value = (double)(p->u + p->v);
	else if (strcmp(base, "outward") == 0)
		value = outward(p);
	else if (strcmp(base, "radiance") == 0)
		value = radiance(r, p);
	else
		fail_msg("known_values.txt: unknown value %s", base);
	return isnan(equal) ? pow(value, power) : value == equal;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* What a line expects after some steps. */
struct expectation {
	char steps[16], fate[32], value[32];
	double number;
	double sum, squares; /* of the particles so far */
	uint64_t n;
};

struct known {
	struct sl_recipe r;
	char config[LINE_BYTES];
	struct expectation line[16];
	size_t n;
};

static uint32_t steps_of(const struct expectation *e)
{
	return strcmp(e->steps, "start") == 0 ? 0
	       : strcmp(e->steps, "end") == 0 ? UINT32_MAX
	                                      : (uint32_t)strtoul(e->steps, NULL, 10);
}

static void add_particle(
	struct expectation *e, const struct sl_recipe *r, const struct sl_particle *p)
{
	double value;

	if (strcmp(e->fate, "share") == 0)
		value = p->fate == sl_fate_find(e->value);
	else if (strcmp(e->fate, "mean") == 0 || p->fate == sl_fate_find(e->fate))
		value = value_of(e->value, r, p);
	else
		return;
	e->sum += value;
	e->squares += value * value;
	e->n++;
}

static void check_line(const struct known *k, const struct expectation *e)
{
	double mean = e->sum / (double)e->n, n = (double)e->n;
	double error = sqrt(fmax(e->squares / n - mean * mean, 0) / n);

	if (e->n < 4 || !(fabs(mean - e->number) <= 4.5 * error + 1e-6 * fabs(e->number) + 1e-9))
		fail_msg(
			"%s\n\t%s %s %s: %.7g, expected %.7g, with an error of %.2g (%llu particles)",
			k->config, e->steps, e->fate, e->value, mean, e->number, error,
			(unsigned long long)e->n);
}

/* Lines are in the order of their steps. */
static void check_configuration(struct known *k)
{
	const uint64_t n = sl_sampling_selects() ? N : N / 4;

	for (uint64_t id = 0; id < n && k->n > 0; id++) {
		struct sl_particle p = start_of(&k->r, id);
		uint32_t taken = 0;

		for (size_t i = 0; i < k->n; i++) {
			uint32_t steps = steps_of(&k->line[i]);

			assert_true(steps >= taken);
			advance(&k->r, &p, steps - taken);
			taken = steps;
			add_particle(&k->line[i], &k->r, &p);
		}
	}
	for (size_t i = 0; i < k->n; i++)
		check_line(k, &k->line[i]);
	k->n = 0;
}

static void check_range(const struct known *k, const char *column, const char *words)
{
	const struct sl_model *m = k->r.model;
	double lo = 0, hi = 0, low = 0, high = 0;
	bool bounded = sscanf(words, "%lf %lf", &lo, &hi) == 2;

	if (m->range(k->r.rules.bytes, sl_column_find(column), &low, &high) != bounded ||
		(bounded && (fabs(low - lo) > 1e-7 || fabs(high - hi) > 1e-7)))
		fail_msg("%s\n\trange of %s: %g to %g, expected %s", k->config, column, low, high,
			words);
}

static void check_constant(const struct known *k, const char *column, const char *number)
{
	enum sl_column c = sl_column_find(column);
	struct sl_particle values = {0};
	bool constant = SL_HAS(k->r.model->constants(k->r.rules.bytes, &values), c);

	if (constant != (number != NULL) ||
		(constant && column_value(&values, c) != strtod(number, NULL)))
		fail_msg("%s\n\tcolumn %s: constant %d, %g", k->config, column, constant,
			column_value(&values, c));
}

static void check_flight(const struct known *k, const char *words)
{
	struct sl_particle p = {.weight = 1}, start;
	char fate[32];
	float length;
	uint32_t pixel;

	assert_int_equal(sscanf(words, "%f %f %f %f %f %u %31s %f %u", &p.x, &p.y, &p.z, &p.u, &p.w,
				 &p.steps, fate, &length, &pixel),
		9);
	start = p;
	advance(&k->r, &p, 1);
	if (p.fate != sl_fate_find(fate) || p.pixel != pixel ||
		(length > 0 && (fabs((double)p.time - (double)length / 10) > 1e-7 ||
				       fabsf(p.x - start.x - length * start.u) > 1e-6f ||
				       fabsf(p.z - start.z - length * start.w) > 1e-6f)))
		fail_msg("%s\n\tflight %s: fate %d, pixel %u, x %.9g, z %.9g, time %.9g", k->config,
			words, p.fate, p.pixel, (double)p.x, (double)p.z, (double)p.time);
}

static void check_same(const struct known *k, const char *config)
{
	const struct sl_recipe r = recipe_of("%s", config);

	if (memcmp(&r.rules, &k->r.rules, sizeof(r.rules)) != 0)
		fail_msg("%s\n\tother rules than %s", k->config, config);
}

static void read_line(struct known *k, char *line)
{
	struct expectation e = {.n = 0};
	char column[32];
	int end;

	if (line[0] != '\t') {
		check_configuration(k);
		strcpy(k->config, line);
		k->r = recipe_of("%s", line);
	} else if (sscanf(line, " range %31s %n", column, &end) == 1) {
		check_range(k, column, line + end);
	} else if (sscanf(line, " constant %31s %n", column, &end) == 1) {
		check_constant(k, column, line + end);
	} else if (strncmp(line, "\tflight ", 8) == 0) {
		check_flight(k, line + 8);
	} else if (strncmp(line, "\tsame ", 6) == 0) {
		check_same(k, line + 6);
	} else if (sscanf(line, " varies %31s", column) == 1) {
		check_constant(k, column, NULL);
	} else {
		assert_int_equal(
			sscanf(line, "%15s %31s %31s %lf", e.steps, e.fate, e.value, &e.number), 4);
		assert_true(k->n < sizeof(k->line) / sizeof(k->line[0]));
		k->line[k->n++] = e;
	}
}

TEST(models_have_their_known_values)
{
	static struct known k;
	FILE *f = open_source("tests/stages/models/known_values.txt");
	char line[LINE_BYTES];
	int lines = 0;

	for (; next_line(f, line); lines++)
		read_line(&k, line);
	fclose(f);
	check_configuration(&k);
	assert_true(lines > 200);
}

/* The plan accepts scores of a model by its table; the stages count them by its line in the list. */
TEST(models_with_scores_state_their_units)
{
#define MODEL(name) assert_null(sl_models[SL_MODEL_##name]->score_shift);
#define SCORED_MODEL(name)                                        \
	assert_non_null(sl_models[SL_MODEL_##name]->score_shift); \
	assert_non_null(sl_models[SL_MODEL_##name]->track_shift);
#include "stages/models/models.def"
#undef MODEL
}
