/* models.c - see models.h. */
#define SL_MODEL_HOST
#include "tests/support/models/models.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/config/reader/reader.h"
#include "stages/host/host.h"
#include "stages/models/models.h"
#include "stages/particle/digest.h"
#include "tests/support/basic/check.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum { MAX_STEPS = 1000 };

static void set_model(struct sl_recipe *r, const struct sl_model *model)
{
	memset(r, 0, sizeof(*r));
	r->model = model;
	r->seed = 1;
	r->loops = sl_find_loops(NULL);
}

/* --- data of rules ---------------------------------------------------------------------------- */

static float random_coordinate(uint64_t *seed)
{
	return random_below(seed, 4) ? (float)random_below(seed, 4001) / 1000 - 2 : 0;
}

/* Makes the records that histories start from at random: inside, outside and on surfaces. */
static void make_records(struct sl_rules_data *data, uint64_t *seed)
{
	struct sl_list_record *r = (struct sl_list_record *)(uintptr_t)sl_list_records(data);
	uint32_t *other = (uint32_t *)(void *)(r + data->list.n);

	data->list.weighted = (uint32_t)random_below(seed, 2);
	for (uint32_t k = 0; k < data->list.n; k++) {
		float w = (float)random_below(seed, 2001) / 1000 - 1;

		r[k] = (struct sl_list_record){.x = random_coordinate(seed),
			.y = random_coordinate(seed),
			.z = random_coordinate(seed),
			.v = sqrtf(1 - w * w),
			.w = w,
			.time = fabsf(random_coordinate(seed)),
			.keep = (float)random_below(seed, 1001) / 1000};
		other[k] = (uint32_t)random_below(seed, data->list.n);
	}
}

/*
 * Makes the data of the rules, if they have any, in the place of those of an old recipe. mixes: the
 * voxels of a volume get labels at random.
 */
static void make_data(struct sl_recipe *r, void *config, bool mixes, uint64_t *seed)
{
	static void *pool[64];
	static uint32_t next;
	void **at = &pool[next++ % 64];
	struct sl_rules_data *data = sl_recipe_data(r);
	const struct sl_voxels *v = RULES_IN(voxels, r);
	const char *key;
	uint8_t *label;

	if (!data)
		return;
	free(*at);
	*at = malloc(data->bytes);
	data->at = *at;
	if (data->list.n > 0)
		make_records(data, seed);
	if (!r->model->load)
		return;
	assert_ok(r->model->load(config, r->rules.bytes, NULL, &key));
	label = (uint8_t *)*at + SL_VOXELS_MEDIA * sizeof(struct sl_voxels_medium);
	for (uint32_t k = 0; mixes && k < (uint32_t)v->nz; k++)
		for (uint32_t j = 0; j < (uint32_t)v->ny; j++)
			for (uint32_t i = 0; i < (uint32_t)v->nx; i++)
				label[(k + 1) * v->plane + (j + 1) * v->row + i + 1] =
					(uint8_t)random_below(seed,
						((struct sl_voxels_config *)config)->n_media + 1);
}

/* --- from text -------------------------------------------------------------------------------- */

struct sl_recipe recipe_of_model(const char *model, uint32_t max_steps)
{
	static struct sl_config config;
	const struct sl_model_common common = {.max_steps = max_steps};
	struct sl_model_check check;
	struct sl_reader *reader;
	struct sl_recipe r;
	char text[4096];
	const char *key;

	snprintf(text, sizeof(text), "run: {particles: 1}\nkeep: absorbed\nmodel: {%s}\n", model);
	assert_ok(sl_config_open_text("c", text, strlen(text), NULL, 0, &config, &reader));
	check = sl_config_check(reader);
	set_model(&r, config.model);
	if (r.model->load)
		assert_ok(r.model->load(config.model_config.bytes, NULL, NULL, &key));
	r.model->make(config.model_config.bytes, &common, r.rules.bytes, &check);
	if (sl_config_problems(reader) > 0)
		fail_msg("%s\n%s", text, sl_config_report(reader));
	make_data(&r, config.model_config.bytes, false, NULL);
	sl_config_close(reader);
	return r;
}

struct sl_recipe recipe_of(const char *format, ...)
{
	char model[2048];
	size_t n = 0;
	va_list values;

	va_start(values, format);
	vsnprintf(model, sizeof(model) - 1, format, values);
	va_end(values);
	for (const char *at = model; *at; at++)
		n += (*at == '{') - (size_t)(*at == '}');
	strcat(model, n > 0 ? "}" : "");
	return recipe_of_model(model, MAX_STEPS);
}

/* --- at random -------------------------------------------------------------------------------- */

uint64_t random_below(uint64_t *seed, uint64_t n)
{
	*seed = sl_digest_mix(*seed, 1);
	return (*seed >> 20) % n;
}

/* A number of the range of the option: mostly of everyday size, sometimes at one of its ends. */
static double random_real(const struct sl_option *o, uint64_t *seed)
{
	double uniform = (double)random_below(seed, 1 << 20) / (1 << 20);
	double size = pow(10, 3 * uniform - 2), lo = fmax(o->lo, -2), hi = fmin(o->hi, 2);
	const double ends[] = {o->lo, o->hi, fmin(fmax(0, o->lo), o->hi)};
	uint64_t kind = random_below(seed, 20);

	if (kind < 3)
		return ends[kind];
	if (kind < 6)
		return lo < hi ? lo + uniform * (hi - lo) : o->lo;
	return fmin(fmax(random_below(seed, 4) == 0 ? -size : size, o->lo), o->hi);
}

static void set_reals(const struct sl_option *o, double *at, uint64_t n, uint64_t *seed)
{
	for (uint64_t i = 0; i < n; i++)
		at[i] = random_real(o, seed);
}

/* Pixels are two numbers, the size of a volume three, regions one for each layer. */
static void set_counts(
	const struct sl_option *o, struct sl_counts *value, uint64_t n, uint64_t *seed)
{
	bool pixels = o->lo > 0;

	value->n = strcmp(o->key, "size") == 0 ? 3 : pixels ? 2 : (uint32_t)n;
	if (strcmp(o->key, "checksum") == 0)
		value->n = 0;
	for (uint32_t i = 0; i < value->n; i++)
		value->at[i] =
			pixels ? 1 + random_below(seed, 9) : random_below(seed, SL_REGIONS + 1);
}

/*
 * Sets the value of one option. A list has the number of values of this configuration, or one for
 * all.
 */
static void set_option(const struct sl_option *o, void *value, uint64_t n, uint64_t *seed)
{
	uint64_t count = o->required || random_below(seed, 2) ? n : 1, choices = 0;

	switch (o->kind) {
	case SL_KIND_CHOICE:
		while (o->choices[choices])
			choices++;
		*(int *)value = (int)random_below(seed, choices);
		break;
	case SL_KIND_BOOL:
		*(bool *)value = random_below(seed, 2);
		break;
	case SL_KIND_COUNT: /* regions; not repetitions, which need a list */
		if (o->hi < 256)
			*(uint64_t *)value = random_below(seed, (uint64_t)o->hi + 1);
		break;
	case SL_KIND_REAL:
		*(double *)value = random_real(o, seed);
		break;
	case SL_KIND_VECTOR:
		set_reals(o, ((struct sl_vector *)value)->at, 3, seed);
		break;
	case SL_KIND_REALS:
		((struct sl_reals *)value)->n = (uint32_t)count;
		set_reals(o, ((struct sl_reals *)value)->at, count, seed);
		break;
	case SL_KIND_COUNTS:
		set_counts(o, (struct sl_counts *)value, n, seed);
		break;
	case SL_KIND_ITEMS:
		*(uint64_t *)value = n;
		break;
	case SL_KIND_TEXT: /* no file */
	case SL_KIND_LINES:
		break;
	default:
		fail_msg("random_option() does not know the kind of %s", o->key);
	}
}

/*
 * Sets the option of every item. An item has one of several shapes; the options of the others are
 * not set.
 */
static void set_items(const struct sl_option *o, unsigned char *value, uint64_t n, uint64_t shapes,
	uint64_t *seed)
{
	static const char *const shape[] = {"sphere.", "box.", "plane."};

	for (uint64_t i = 0; i < n; i++, value += o->stride) {
		set_option(o, value, 1, seed);
		for (uint64_t k = 0; k < 3; k++)
			if (strstr(o->key, shape[k]) && (shapes >> 2 * i) % 3 != k)
				for (int axis = 0; axis < (o->kind == SL_KIND_VECTOR ? 3 : 1);
					axis++)
					((double *)(void *)value)[axis] = (double)NAN;
	}
}

/* Some histories start from up to 99 records of a list, which no file has. */
static void set_source(const struct sl_model *m, void *config, uint64_t *seed)
{
	struct sl_source_config *source =
		(struct sl_source_config *)(void *)((char *)config + m->source);

	if (m->source == 0)
		return;
	source->pdg.n = 0;
	source->records = 1 + random_below(seed, 99);
	source->list.files.n = random_below(seed, 3) == 0;
	if (m == sl_models[SL_MODEL_rays])
		source->list.files.n =
			((struct sl_rays_config *)config)->source == SL_RAYS_FROM_LIST;
}

static bool all_given(void *ctx, const char *key)
{
	(void)ctx;
	(void)key;
	return true;
}

/* All options are set, whether they are used or not. Other problems are in the values. */
SL_PRINTF(3, 4)
static void note_problem(void *ctx, const char *key, const char *format, ...)
{
	(void)key;
	if (!strstr(format, "has no effect"))
		*(bool *)ctx = true;
}

struct sl_recipe recipe_at_random(enum sl_model_number model, uint64_t seed, uint32_t max_steps)
{
	static union {
		unsigned char bytes[SL_MODEL_CONFIG_BYTES];
		double align;
	} config;
	const struct sl_model_common at_most = {.max_steps = max_steps};
	const struct sl_model *m = sl_models[model];
	struct sl_recipe r;
	bool problem;

	do {
		const struct sl_model_check check = {&problem, all_given, note_problem};
		uint64_t n = 1 + random_below(&seed, random_below(&seed, 2) ? 3 : 16),
			 shapes = random_below(&seed, ~0u);

		problem = false;
		memset(&config, 0, sizeof(config));
		set_model(&r, sl_models[model]);
		for (size_t i = 0; i < m->n_options; i++)
			if (m->options[i].stride)
				set_items(&m->options[i], config.bytes + m->options[i].offset, n,
					shapes, &seed);
			else
				set_option(&m->options[i], config.bytes + m->options[i].offset, n,
					&seed);
		set_source(m, config.bytes, &seed);
		m->make(config.bytes, &at_most, r.rules.bytes, &check);
	} while (problem);
	make_data(&r, config.bytes, random_below(&seed, 4) > 0, &seed);
	return r;
}

/* --- particles -------------------------------------------------------------------------------- */

enum sl_model_number generating_model(uint64_t k)
{
	k %= GENERATING_MODELS;
	return (enum sl_model_number)(k < SL_MODEL_list ? k : k + 1);
}

struct sl_particle start_of(const struct sl_recipe *r, uint64_t id)
{
	switch (sl_model_number_of(r->model)) {
#define MODEL(name)                                                                            \
	case SL_MODEL_##name:                                                                  \
		return sl_##name##_generate((const struct sl_##name *)(const void *)&r->rules, \
			SL_EVERY_COLUMN, r->seed, id);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return (struct sl_particle){.id = id};
}

void advance(const struct sl_recipe *r, struct sl_particle *p, uint32_t n)
{
	switch (sl_model_number_of(r->model)) {
#define MODEL(name)                                                                    \
	case SL_MODEL_##name:                                                          \
		sl_##name##_advance((const struct sl_##name *)(const void *)&r->rules, \
			SL_EVERY_COLUMN, r->seed, p, n);                               \
		break;
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
}

struct sl_particle end_of(const struct sl_recipe *r, uint64_t id)
{
	struct sl_particle p = start_of(r, id);

	advance(r, &p, UINT32_MAX);
	return p;
}
