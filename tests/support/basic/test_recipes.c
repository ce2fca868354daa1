/* test_recipes.c - see test_recipes.h. */
#include "test_recipes.h"

#include "stages/host/host.h"
#include "stages/models/models.h"
#include "tests/support/models/models.h"

/* A configuration of each model, and the fate that is kept. */
static const struct {
	const char *config;
	enum sl_fate keep;
} models[TEST_MODELS] = {
	[SL_MODEL_source_detector] =
		{"source_detector: {source: {type: disk, radius: 1 cm}, detector: {type: rectangle, distance: 1 cm, "
		 "width: 3 cm, height: 2 cm, pixels: [8, 4]}, stop: {type: disk, distance: 0.5 cm, radius: 0.4 cm}, "
		 "energy: {type: lines, lines: [26.3 keV, 59.5 keV]}, speed: 30 cm/ns}",
			SL_FATE_hit},
	[SL_MODEL_slab] =
		{"slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.75, thickness: 0.5 cm, n: 1.4, n_above: 1, "
		 "n_below: 1.2, incidence: angle, angle: 0.4 rad}",
			SL_FATE_transmitted},
	[SL_MODEL_cavity] =
		{"cavity: {type: tube, radius: 1 cm, length: 2 cm, reflectance: 0.9, speed: 30 cm/ns}",
			SL_FATE_transmitted},
	[SL_MODEL_rays] =
		{"rays: {camera: {position: [0, -1.5 cm, 0.2 cm], look_at: [0, 0, 0], field_of_view: 1 "
		 "rad, pixels: [8, 4]}, sky: 0.1, objects: [{sphere: {center: [0.3 cm, 0, 0], radius: 0.5 "
		 "cm}, surface: mirror, reflectance: 0.9}, {box: {from: [-1 cm, -0.4 cm, -0.5 cm], to: "
		 "[-0.5 cm, 0.4 cm, 0.3 cm]}, reflectance: 0.3, emission: 1}, {plane: {point: [0, 0, -0.6 "
		 "cm], normal: [0, 0, 1]}, reflectance: 0.8}]}",
			SL_FATE_lit},
};

void complete_recipe(struct sl_recipe *r, uint32_t n)
{
	const struct sl_model *m = r->model;
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
	struct sl_recipe r = recipe_of_model(models[number].config, 50);

	r.keep = SL_FATE_BIT(models[number].keep);
	complete_recipe(&r, n);
	return r;
}
