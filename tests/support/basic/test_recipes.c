/* test_recipes.c - see test_recipes.h. */
#define SL_MODEL_HOST
#include "test_recipes.h"

#include <string.h>

#include "stages/host/cpu_dispatch.h"
#include "stages/models/cavity.h"
#include "stages/models/rays.h"
#include "stages/models/slab.h"
#include "stages/models/source_detector.h"

static const struct sl_slab_config glass = {.mu_a = {1, {1}},
	.mu_s = {1, {9}},
	.g = {1, {0.75}},
	.thickness = {1, {0.5}},
	.n = {1, {1.4}},
	.n_above = 1,
	.n_below = 1.2,
	.incidence = SL_SLAB_ANGLE,
	.angle = 0.4};

static const struct sl_source_detector_config lamp = {
	.source = {.type = SL_SOURCE_DISK, .radius = 1},
	.detector = {.type = SL_DETECTOR_RECTANGLE,
		.distance = 1,
		.width = 3,
		.height = 2,
		.pixels = {2, {8, 4}}},
	.stop = {.type = SL_STOP_DISK, .distance = 0.5, .radius = 0.4},
	.energy = {.type = SL_SPECTRUM_LINES, .lines = {2, {26.3, 59.5}}},
	.speed = 30};

static const struct sl_cavity_config pipe = {
	.type = SL_CAVITY_TUBE, .radius = 1, .length = 2, .reflectance = 0.9, .speed = 30};

#define NO                                                    \
	{                                                     \
		{                                             \
			(double)NAN, (double)NAN, (double)NAN \
		}                                             \
	}
static const struct sl_rays_config scene = {.camera = {.position = {{0, -1.5, 0.2}},
						    .look_at = {{0, 0, 0}},
						    .up = {{0, 0, 1}},
						    .field_of_view = 1,
						    .pixels = {2, {8, 4}}},
	.sky = 0.1,
	.n_objects = 3,
	.object = {{{{{0.3, 0, 0}}, 0.5}, {NO, NO}, {NO, NO}, SL_RAYS_MIRROR, 0.9, 0},
		{{NO, (double)NAN}, {{{-1, -0.4, -0.5}}, {{-0.5, 0.4, 0.3}}}, {NO, NO}, 0, 0.3, 1},
		{{NO, (double)NAN}, {NO, NO}, {{{0, 0, -0.6}}, {{0, 0, 1}}}, 0, 0.8, 0}}};
#undef NO

/* A configuration of each model, and the fate that is kept. */
static const struct {
	const void *config;
	enum sl_fate keep;
} models[TEST_MODELS] = {
	[SL_MODEL_source_detector] = {&lamp, SL_FATE_hit},
	[SL_MODEL_slab] = {&glass, SL_FATE_transmitted},
	[SL_MODEL_cavity] = {&pipe, SL_FATE_transmitted},
	[SL_MODEL_rays] = {&scene, SL_FATE_lit},
};

/* Whether a key was given is not known, so complaints about missing keys are ignored. */
static bool none_given(void *ctx, const char *key)
{
	(void)ctx;
	(void)key;
	return false;
}

static void no_complaint(void *ctx, const char *key, const char *format, ...)
{
	(void)ctx;
	(void)key;
	(void)format;
}

void complete_recipe(struct sl_recipe *r, uint32_t n)
{
	const struct sl_model *m = sl_models[r->model];
	const struct sl_key_field w = {.column = SL_COLUMN_w, .bits = 6, .lo = -1, .hi = 1},
				  x = {.column = SL_COLUMN_x, .bits = 4, .lo = -2, .hi = 2};

	r->seed = 1234;
	r->particles = r->batch = n;
	r->n_batches = 1;
	r->n_fields = 2;
	r->field[0] = sl_key_rule_make(&w);
	r->field[1] = sl_key_rule_make(&x);
	r->key_bits = w.bits + x.bits;
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(m->columns, c))
			r->column[r->n_columns++] = (enum sl_column)c;
	r->constants = m->constants(r->rules.bytes, &r->constant);
	r->scan.backend = &sl_scan_cpu;
	r->compact.backend = &sl_compact_cpu;
	r->sort.backend = &sl_sort_cpu;
	r->loops = sl_find_loops(NULL);
}

struct sl_recipe test_recipe(enum sl_model_number number, uint32_t n)
{
	const struct sl_model_common common = {.max_steps = 50};
	const struct sl_model_check check = {NULL, none_given, no_complaint};
	struct sl_recipe r;

	memset(&r, 0, sizeof(r));
	r.model = number;
	r.keep = SL_FATE_BIT(models[number].keep);
	sl_models[number]->make(models[number].config, &common, r.rules.bytes, &check);
	complete_recipe(&r, n);
	return r;
}
