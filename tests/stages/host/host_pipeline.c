/*
 * host_pipeline.c - compares batches of each model, run through all stages, with particles
 * recomputed one by one.
 *
 * Recipes are made by hand (tests/support/basic/test_recipes.h): no configuration is read.
 */
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"

#include "stages/host/cpu_dispatch.h"
#include "stages/particle/digest.h"

enum { N = 100003, BLOCK = 4096 }; /* BLOCK: as in host_pipeline.c */

/* --- what a batch must be --------------------------------------------------------------------- */

static uint64_t table_id(const struct sl_batch *b, uint32_t row)
{
	return sl_batch_id(b, b->index[row]);
}

static uint64_t key_of(const struct sl_recipe *r, struct sl_particle *p)
{
	struct sl_columns one;

#define COLUMN(name, type, unit, record, component, help) one.name = &p->name;
#include "stages/particle/columns.def"
#undef COLUMN
	return sl_key_pack(r->field, r->n_fields, &one, 0, p->id);
}

static uint64_t bits_at(const struct sl_table_column *c, uint32_t row)
{
	const uint32_t bytes = sl_column_facts[c->column].bytes;
	uint64_t bits = 0;

	memcpy(&bits, (const char *)c->data + (c->constant ? 0 : (size_t)row * bytes), bytes);
	return bits;
}

/* Each row equals its recomputed particle; rows are in the order of the key, then of the id. */
static void check_rows(const struct sl_recipe *r, const struct sl_batch *b)
{
	uint64_t last_key = 0, last_id = 0;

	assert_int_equal(b->n_survivors, b->table.n);
	for (uint32_t j = 0; j < b->table.n; j++) {
		uint64_t id = table_id(b, j), key;
		struct sl_particle p = sl_compute_particle(r, id);

		assert_true(id >= b->first_id && id < b->first_id + b->n && p.id == id);
		assert_true(SL_HAS(r->keep, p.fate));
		for (uint32_t k = 0; k < b->table.n_columns; k++) {
			const struct sl_table_column *c = &b->table.column[k];
			const struct sl_column_facts *facts = &sl_column_facts[c->column];
			uint64_t want = 0;

			memcpy(&want, (const char *)&p + facts->in_particle, facts->bytes);
			if (bits_at(c, j) != want)
				fail_msg("row %u: column %s differs from that of particle %llu", j,
					facts->name, (unsigned long long)id);
		}
		key = key_of(r, &p);
		assert_true(j == 0 || key > last_key || (key == last_key && id > last_id));
		last_key = key;
		last_id = id;
	}
}

/* Adds from the last row to the first: the digest is a sum, so the order does not matter. */
static void check_digests(const struct sl_batch *b)
{
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];
		uint64_t digest = 0;

		for (uint32_t j = b->table.n; j-- > 0;)
			digest += sl_digest_item(sl_digest_weight(j), bits_at(c, j));
		assert_true(digest == c->digest);
	}
}

/* The tally and the marks equal those of all recomputed particles. Blocks overwrite the marks. */
static void check_tally(const struct sl_recipe *r, const struct sl_batch *b)
{
	struct sl_tally want;
	uint32_t survivors = 0;

	memset(&want, 0, sizeof(want));
	for (uint64_t i = 0; i < b->n; i++) {
		struct sl_particle p = sl_compute_particle(r, b->first_id + i);

		want.count[p.fate]++;
		want.weight[p.fate] += (uint64_t)((double)p.weight * 0x1p32);
		want.steps += p.steps;
		want.collisions += p.collisions;
		survivors += SL_HAS(r->keep, p.fate);
		if (!b->place)
			assert_int_equal(SL_HAS(r->keep, p.fate), b->keep[i]);
	}
	assert_memory_equal(&want, &b->tally, sizeof(want));
	assert_int_equal(survivors, b->n_survivors);
}

static void check_batch(const struct sl_recipe *r, const struct sl_batch *b)
{
	check_rows(r, b);
	check_digests(b);
	check_tally(r, b);
}

/* Makes all batches of r and checks each; whole: not in blocks. */
static void check_batches(const struct sl_recipe *r, bool whole)
{
	struct batch_memory m;

	(whole ? open_whole_batch_memory : open_batch_memory)(&m, r, 0xa5);
	assert_int_equal(m.b.place == NULL, whole);
	for (uint64_t k = 0; k < r->n_batches; k++) {
		run_batch(r, &m, k);
		check_batch(r, &m.b);
	}
	close_batch_memory(&m);
}

static void check_run(const struct sl_recipe *r)
{
	check_batches(r, true);
	check_batches(r, false);
}

/* --- tests ------------------------------------------------------------------------------------ */

TEST(tables_equal_recomputed_particles)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, N);

		check_run(&r);
	}
}

TEST(ids_ascend_without_a_key)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, N);

		r.n_fields = r.key_bits = 0;
		check_run(&r); /* all keys are 0 then */
	}
}

TEST(wide_keys_are_sorted)
{
	const struct sl_key_field u = {.column = SL_COLUMN_u, .bits = 32, .lo = -1, .hi = 1},
				  fate = {.column = SL_COLUMN_fate, .bits = 3, .lo = 0, .hi = 7};

	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, N);

		r.keep = SL_EVERY_FATE;
		r.field[0] = sl_key_rule_make(&fate);
		r.field[1] = sl_key_rule_make(&u);
		r.key_bits = 35;
		check_run(&r);
	}
}

TEST(all_or_none_survive)
{
	for (int i = 0; i < 2 * TEST_MODELS; i++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)(i / 2), 20000);

		r.keep = i % 2 ? SL_EVERY_FATE : SL_FATE_BIT(SL_FATE_alive);
		check_run(&r);
	}
}

TEST(sizes_around_a_piece)
{
	const uint32_t sizes[] = {
		1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 1};

	for (int i = 0; i < 8 * TEST_MODELS; i++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)(i / 8), sizes[i % 8]);

		check_run(&r);
	}
}

/* Expects that two batches have the same tallies and tables. */
static void assert_same(const struct sl_batch *a, const struct sl_batch *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_survivors, b->n_survivors);
	assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
	for (uint32_t j = 0; j < a->n_survivors; j++)
		assert_true(sl_batch_id(a, a->index[j]) == sl_batch_id(b, b->index[j]));
	for (uint32_t k = 0; k < a->table.n_columns; k++) {
		const struct sl_table_column *t = &a->table.column[k], *u = &b->table.column[k];

		assert_int_equal(t->column, u->column);
		assert_true(t->digest == u->digest);
		assert_memory_equal(t->data, u->data,
			(t->constant ? 1 : (size_t)a->table.n) * sl_column_facts[t->column].bytes);
	}
}

/* Expects that r and other give the same batch, with any previous contents of the memory. */
static void check_same(const struct sl_recipe *r, const struct sl_recipe *other)
{
	struct batch_memory a, b;

	open_batch_memory(&a, r, 0xa5);
	open_whole_batch_memory(&b, other, 0x5a); /* all at once instead of in blocks */
	run_batch(r, &a, 0);
	run_batch(other, &b, 0);
	assert_same(&a.b, &b.b);
	close_batch_memory(&a);
	close_batch_memory(&b);
}

TEST(levels_and_backends_agree)
{
	const struct sl_loops *level;

	assert_null(sl_find_loops("none"));
	assert_non_null(sl_find_loops("baseline"));
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, N), other = r;

		r.loops = sl_find_loops("baseline");
		for (size_t k = 0; (level = sl_loops_at(k)) != NULL; k++) {
			other.loops = sl_find_loops(level->level);
			if (!other.loops) {
				print_message("this CPU has no %s: the level is not tested\n",
					level->level);
				continue;
			}
			assert_string_equal(level->level, other.loops->level);
			other.compact.backend = k ? &sl_compact_cpu_scan : &sl_compact_cpu;
			check_same(&r, &other);
		}
	}
}

/* Constants are one value in the recipe; gathered as a column they would have the same digest. */
TEST(constant_columns_are_not_gathered)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, 5000), gathered = r;
		struct batch_memory a, b;
		int n = 0;

		gathered.constants = 0;
		open_batch_memory(&a, &r, 0);
		open_batch_memory(&b, &gathered, 0);
		run_batch(&r, &a, 0);
		run_batch(&gathered, &b, 0);
		for (uint32_t k = 0; k < r.n_columns; k++) {
			const struct sl_table_column *c = &a.b.table.column[k];

			n += c->constant;
			assert_int_equal(SL_HAS(r.constants, c->column), c->constant);
			assert_false(b.b.table.column[k].constant);
			assert_true(c->digest == b.b.table.column[k].digest);
			if (c->constant)
				assert_ptr_equal(
					c->data, (const char *)&r.constant +
							 sl_column_facts[c->column].in_particle);
		}
		assert_int_equal(
			model != SL_MODEL_rays, n); /* the weight, where it is of one value */
		close_batch_memory(&a);
		close_batch_memory(&b);
	}
}

/* Sums over the tallies and survivors of a run, which do not depend on their order. */
struct sum {
	struct sl_tally tally;
	uint64_t survivors, digest;
};

static void add_batch(const struct sl_batch *b, struct sum *s)
{
	uint64_t *to = (uint64_t *)&s->tally;
	const uint64_t *from = (const uint64_t *)&b->tally;

	for (size_t i = 0; i < sizeof(s->tally) / sizeof(*to); i++)
		to[i] += from[i];
	s->survivors += b->n_survivors;
	for (uint32_t j = 0; j < b->table.n; j++)
		for (uint32_t k = 0; k < b->table.n_columns; k++)
			s->digest += sl_digest_mix(table_id(b, j) * SL_COLUMN_COUNT + k,
				bits_at(&b->table.column[k], j));
}

static struct sum sum_of_run(struct sl_recipe r, uint32_t batch)
{
	struct sum s;
	struct batch_memory m;

	memset(&s, 0, sizeof(s));
	r.batch = batch;
	r.n_batches = (r.particles + batch - 1) / batch;
	open_batch_memory(&m, &r, 0xa5);
	for (uint64_t k = 0; k < r.n_batches; k++) {
		run_batch(&r, &m, k);
		add_batch(&m.b, &s);
	}
	close_batch_memory(&m);
	return s;
}

TEST(batch_sizes_give_the_same_survivors)
{
	const uint32_t sizes[] = {1, 1000, 4096};

	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, 10007);
		struct sum all = sum_of_run(r, 10007);

		assert_true(all.survivors > 1000);
		for (int i = 0; i < 3; i++) {
			struct sum s = sum_of_run(r, sizes[i]);

			assert_memory_equal(&all, &s, sizeof(s));
		}
	}
}

/* Ids above 2^32, also as a field of the key. */
TEST(last_batches_have_their_ids)
{
	const struct sl_key_field id = {
		.column = SL_COLUMN_id, .bits = 4, .lo = 0x1p40 - 776, .hi = 0x1p40 + 16};

	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, 1000);
		struct batch_memory m;

		r.particles = (UINT64_C(1) << 40) + 17;
		r.field[1] = r.field[0];
		r.field[0] = sl_key_rule_make(&id);
		r.keep = SL_EVERY_FATE;
		open_batch_memory(&m, &r, 0);
		run_batch(&r, &m, (UINT64_C(1) << 40) / 1000);
		assert_int_equal(793, m.b.n); /* 2^40 + 17 modulo 1000 */
		check_batch(&r, &m.b);
		run_batch(&r, &m, (UINT64_C(1) << 33) / 1000);
		assert_int_equal(1000, m.b.n);
		check_batch(&r, &m.b);
		close_batch_memory(&m);
	}
}
