/*
 * slab_layers.c - tests that slabs of one to six layers give the same batch at each CPU level: vectors look up the
 * values of one, of few and of many layers in different ways.
 */
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/models/slab_check.h"

#include "stages/host/cpu_dispatch.h"
#include "stages/models/slab_paths.h"

enum { LAYERS = 6, N = 20011 };

/* A slab of the first n layers; no two neighbours are of one medium. */
static struct sl_slab slab_of(uint32_t n, bool implicit)
{
	struct sl_slab_config c = {.mu_a = {n, {1, 0, 2, 0.7, 3, 0.4}},
		.mu_s = {n, {9, 0, 38, 20, 5, 11}},
		.g = {n, {0.5, 0.9, 0, 0.8, -0.4, 0.7}},
		.thickness = {n, {0.1, 0.05, 0.02, 0.1, 0.03, 0.05}},
		.n = {n, {1.5, 1, 1.4, 1.2, 1.33, 1.5}},
		.n_above = 1.1,
		.n_below = 1.2,
		.roulette = {1e-2, 0.1}};
	struct sl_slab r = slab_rules(implicit ? slab_implicit(c) : c);

	assert_int_equal(n, r.layers);
	for (uint32_t i = 0; i < n; i++)
		r.layer[i].region = (float)(i % 3 + 1);
	return r;
}

/* The recipe of a model with this slab, which keeps particles of all fates. */
static struct sl_recipe recipe_of(enum sl_model_number model, const struct sl_slab *slab)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, N);
	const struct sl_model *m = sl_models[model];

	_Static_assert(sizeof(struct sl_slab_paths) == sizeof(*slab), "both rules are a slab");
	memcpy(r.rules.bytes, slab, sizeof(*slab));
	r.model = model;
	r.keep = m->fates;
	r.n_columns = 0;
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(m->columns, c))
			r.column[r.n_columns++] = (enum sl_column)c;
	r.constants = m->constants(r.rules.bytes, &r.constant);
	return r;
}

/* Runs a batch at a level and returns the digests of its columns. */
static void digests_at(
	struct sl_recipe r, const struct sl_loops *level, uint64_t digest[SL_COLUMN_COUNT])
{
	struct batch_memory m;

	r.loops = level;
	open_batch_memory(&m, &r, 0xa5);
	run_batch(&r, &m, 0);
	assert_int_equal(N, m.b.n_survivors);
	for (uint32_t k = 0; k < r.n_columns; k++)
		digest[k] = m.b.table.column[k].digest;
	close_batch_memory(&m);
}

static void check_levels(enum sl_model_number model, const struct sl_slab *slab)
{
	const struct sl_recipe r = recipe_of(model, slab);
	uint64_t expected[SL_COLUMN_COUNT], digest[SL_COLUMN_COUNT];
	const struct sl_loops *level;

	digests_at(r, sl_find_loops("baseline"), expected);
	for (size_t k = 0; (level = sl_loops_at(k)) != NULL; k++) {
		if (!sl_find_loops(level->level)) {
			print_message(
				"this CPU has no %s: the level is not tested\n", level->level);
			continue;
		}
		digests_at(r, level, digest);
		assert_memory_equal(expected, digest, r.n_columns * sizeof(*digest));
	}
}

TEST(every_number_of_layers_has_the_bits_of_baseline)
{
	for (uint32_t n = 1; n <= LAYERS; n++)
		for (int implicit = 0; implicit < 2; implicit++) {
			const struct sl_slab slab = slab_of(n, implicit);

			check_levels(SL_MODEL_slab, &slab);
			check_levels(SL_MODEL_slab_paths, &slab);
		}
}
