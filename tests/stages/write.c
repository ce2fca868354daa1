/* write.c - columns that are only digested have the digests of the same columns gathered in key order. */
#include <string.h>

#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"

#include "stages/host/cpu_dispatch.h"
#include "stages/host/batch_layout.h"

/* Several blocks of rows and of particles, the last ones incomplete. */
enum { N = 3 * SL_HOST_BLOCK + 100 };

/* Expects the same digests, and items only in the columns that other does not only digest. */
static void expect_same(
	const struct sl_batch *gathered, const struct sl_batch *b, sl_column_set digested)
{
	assert_int_equal(gathered->table.n, b->table.n);
	assert_true(b->table.n > 1000);
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];
		const struct sl_table_column *want = &gathered->table.column[k];
		size_t n = c->constant ? 1 : b->table.n;

		assert_int_equal(want->column, c->column);
		assert_true(want->digest == c->digest);
		assert_non_null(want->data);
		assert_int_equal(!c->data, !c->constant && SL_HAS(digested, c->column));
		if (c->data)
			assert_memory_equal(
				want->data, c->data, n * sl_column_facts[c->column].bytes);
	}
}

/* Runs r with and without columns that are only digested, in memory with any previous contents. */
static void check_digested(const struct sl_recipe *r, sl_column_set digested)
{
	struct batch_memory gathered, m;
	struct sl_recipe digests = *r;

	digests.digested = digested;
	open_batch_memory(&gathered, r, 0xa5);
	open_batch_memory(&m, &digests, 0x5a);
	for (uint64_t k = 0; k < r->n_batches; k++) {
		run_batch(r, &gathered, k);
		run_batch(&digests, &m, k);
		expect_same(&gathered.b, &m.b, digested);
	}
	close_batch_memory(&gathered);
	close_batch_memory(&m);
}

/* A recipe of two batches that keeps all particles, and so has ids that do not begin at 0. */
static struct sl_recipe recipe_of(int model)
{
	struct sl_recipe r = test_recipe((enum sl_model_number)model, N);

	r.keep = SL_EVERY_FATE;
	r.particles = 2 * N;
	r.n_batches = 2;
	return r;
}

/* All columns, or all but some. */
static const sl_column_set sets[] = {SL_EVERY_COLUMN, ~SL_BIT(SL_COLUMN_x), ~SL_BIT(SL_COLUMN_id),
	SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_fate)};
enum { SETS = sizeof(sets) / sizeof(*sets) };

TEST(digests_are_those_of_gathered_columns)
{
	for (int i = 0; i < TEST_MODELS * SETS; i++) {
		struct sl_recipe r = recipe_of(i / SETS);

		check_digested(&r, sets[i % SETS]);
		r.n_fields = r.key_bits = 0; /* survivors stay in id order */
		check_digested(&r, sets[i % SETS]);
	}
}

/* Keys of 64 bits: the rows take the memory of the first half of them. */
TEST(wide_keys_leave_memory_for_rows)
{
	const struct sl_key_field u = {.column = SL_COLUMN_u, .bits = 32, .lo = -1, .hi = 1};

	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = recipe_of(model);

		r.field[1] = sl_key_rule_make(&u);
		r.key_bits = 6 + 32;
		assert_int_equal(sl_key_type(&r), SL_U64);
		check_digested(&r, SL_EVERY_COLUMN);
	}
}

TEST(each_level_has_the_same_digests)
{
	const struct sl_loops *level;

	for (size_t k = 0; (level = sl_loops_at(k)) != NULL; k++) {
		struct sl_recipe r = recipe_of(SL_MODEL_source_detector);

		r.loops = sl_find_loops(level->level);
		if (r.loops)
			check_digested(&r, SL_EVERY_COLUMN);
		else
			print_message(
				"this CPU has no %s: the level is not tested\n", level->level);
	}
}

/* Without blocks, positions are those of all particles, so the columns are gathered. */
TEST(rounds_gather_all_columns)
{
	struct sl_recipe r = recipe_of(SL_MODEL_slab), digests;
	struct batch_memory gathered, m;

	r.schedule.steps = 4;
	digests = r;
	digests.digested = SL_EVERY_COLUMN;
	open_batch_memory(&gathered, &r, 0);
	open_batch_memory(&m, &digests, 0);
	run_batch(&r, &gathered, 1);
	run_batch(&digests, &m, 1);
	expect_same(&gathered.b, &m.b, 0);
	close_batch_memory(&gathered);
	close_batch_memory(&m);
}
