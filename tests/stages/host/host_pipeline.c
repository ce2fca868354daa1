/*
 * host_pipeline.c - compares batches of random recipes, run through all stages on the host at each CPU level, with particles
 * that are computed one by one. Also tests cancellation, wrong fates, times, and weights of tallies.
 *
 * Recipes are made without a configuration (models/random_batches.h, basic/test_recipes.h).
 */
#include "tests/cases/sampling.h"
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/models/random_batches.h"

#include "stages/host/cpu_dispatch.h"
#include "stages/particle/digest.h"
#include "stages/particle/weight.h"

enum { BLOCK = 4096 }; /* as in host_pipeline.c */

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
		want.weight[p.fate] += sl_fixed_weight(p.weight * sl_weight_scale(r));
		want.steps += p.steps;
		want.collisions += p.collisions;
		survivors += SL_HAS(r->keep, p.fate);
		if (!b->place)
			assert_int_equal(SL_HAS(r->keep, p.fate), b->keep[i]);
	}
	assert_memory_equal(&want, &b->tally, sizeof(want));
	assert_int_equal(survivors, b->n_survivors);
}

/* The counters of the rounds are consistent. */
static void check_rounds(const struct sl_recipe *r, const struct sl_batch *b)
{
	const struct sl_rounds *rounds = &b->rounds;
	uint64_t alive = b->n;

	assert_int_equal(rounds->n > 0, r->schedule.steps > 0);
	if (rounds->n == 0)
		return;
	assert_true(rounds->n <= SL_ROUNDS_MAX && rounds->longest >= rounds->n);
	assert_int_equal(rounds->at[0].width, b->n);
	for (uint32_t i = 0; i + 1 < rounds->n; i++) {
		const struct sl_round *now = &rounds->at[i], *next = &rounds->at[i + 1];
		bool moved = now->compacted || now->sorted;

		assert_int_equal(now->batches, 1);
		assert_true(now->alive <= alive && now->alive > 0);
		if (rounds->longest == rounds->n)
			assert_int_equal(next->width, moved ? now->alive : now->width);
		alive = now->alive;
	}
	if (rounds->longest == rounds->n)
		assert_int_equal(rounds->at[rounds->n - 1].alive, 0);
}

static void check_batch(const struct sl_recipe *r, const struct sl_batch *b)
{
	check_rows(r, b);
	check_digests(b);
	check_tally(r, b);
	check_rounds(r, b);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* The levels that this CPU has. */
static size_t find_levels(const struct sl_loops *levels[8])
{
	const struct sl_loops *level;
	size_t n = 0;

	assert_null(sl_find_loops("none"));
	for (size_t k = 0; (level = sl_loops_at(k)) != NULL; k++) {
		if (!sl_find_loops(level->level)) {
			print_message(
				"this CPU has no %s: the level is not tested\n", level->level);
			continue;
		}
		assert_string_equal(level->level, sl_find_loops(level->level)->level);
		levels[n++] = level;
	}
	assert_true(n > 0 && strcmp(levels[n - 1]->level, "baseline") == 0);
	return n;
}

/* Makes all batches in memory with any previous contents. whole: not in blocks. */
static void check_batches(const struct sl_recipe *r, bool whole)
{
	struct batch_memory m;

	(whole ? open_whole_batch_memory : open_batch_memory)(&m, r, 0xa5);
	assert_int_equal(m.b.place == NULL, whole || r->schedule.steps > 0);
	for (uint64_t k = 0; k < r->n_batches; k++) {
		run_batch(r, &m, k);
		check_batch(r, &m.b);
	}
	close_batch_memory(&m);
}

TEST(tables_equal_recomputed_particles)
{
	enum { RECIPES = 3000, LARGEST = 12289 };
	const struct sl_loops *levels[8];
	size_t n = find_levels(levels);

	for (uint64_t seed = 0; seed < RECIPES; seed++) {
		struct sl_recipe r = random_batches(seed, LARGEST);

		if (!sl_sampling_selects())
			continue;
		r.loops = levels[seed % n];
		r.compact.backend = seed % 2 ? &sl_compact_cpu_scan : &sl_compact_cpu;
		print_message("seed %llu: %s, level %s\n", (unsigned long long)seed,
			describe_batches(&r), r.loops->level);
		check_batches(&r, seed % 3 == 0);
	}
}

TEST(sizes_around_a_piece)
{
	static const uint32_t sizes[] = {
		1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 1};

	for (int i = 0; i < 8 * TEST_MODELS; i++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)(i / 8), sizes[i % 8]);

		check_batches(&r, i % 2);
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

/* --- stages ----------------------------------------------------------------------------------- */

TEST(a_cancelled_batch_stops)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 1000);
	atomic_int cancel = 0;
	struct batch_memory m;

	r.cancel = &cancel;
	open_batch_memory(&m, &r, 0);
	run_batch(&r, &m, 0);
	cancel = 1;
	sl_batch_begin(&r, &m.b, 0);
	assert_fails(sl_stages_run(&r, &m.x, &m.b, NULL), SL_STOPPED,
		"batch 0, stage generate: cancelled: the run was asked to stop");
	close_batch_memory(&m);
}

/* A fate that was changed in memory is detected. */
TEST(wrong_fate_counts_are_detected)
{
	const uint8_t wrong[] = {SL_FATE_alive, SL_FATE_hit, SL_FATE_COUNT, 255};

	for (int i = 0; i < 4; i++) {
		struct sl_recipe r = test_recipe(SL_MODEL_slab, 20000);
		struct batch_memory m;

		open_whole_batch_memory(&m, &r, 0);
		run_batch(&r, &m, 0);
		m.b.columns.fate[17000] = wrong[i];
		memset(&m.b.tally, 0, sizeof(m.b.tally)); /* mark adds to the counts of a batch */
		assert_fails(sl_stages[SL_STAGE_mark].on_host(&r, &m.x, &m.b), SL_CHECK_FAILED,
			wrong[i] < SL_FATE_COUNT
				? "fate counts sum to 20000 for 20000 particles, 1 with a fate"
				: "fate counts sum to 19999 for 20000 particles");
		assert_int_equal(0, m.b.keep[17000]);
		close_batch_memory(&m);
	}
}

TEST(each_stage_is_timed)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 20000);
	uint64_t ns[SL_STAGE_COUNT] = {0};
	struct batch_memory m;

	open_batch_memory(&m, &r, 0);
	sl_batch_begin(&r, &m.b, 0);
	assert_ok(sl_stages_run(&r, &m.x, &m.b, ns));
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		assert_int_equal(ns[s] > 0, sl_stage_is_run(SL_MODE_staged, s));
	close_batch_memory(&m);
}

/* Weights are rounded to the nearest multiple of 2^-32, without bias. */
TEST(weights_are_rounded)
{
	double sum = 0;

	assert_int_equal(UINT64_C(1) << 32, sl_fixed_weight(1.0f));
	assert_int_equal((UINT64_C(1) << 32) - 256, sl_fixed_weight(0x1.fffffep-1f));
	assert_int_equal((1 << 23) + 1, sl_fixed_weight(0x1.000002p-9f));
	assert_int_equal((1 << 23), sl_fixed_weight(0x1.fffffep-10f));
	assert_int_equal((1 << 23) - 1, sl_fixed_weight(0x1.fffffcp-10f));
	assert_int_equal(1, sl_fixed_weight(0x1p-33f));
	assert_int_equal(0, sl_fixed_weight(0x1.fffffcp-34f));
	assert_int_equal(0, sl_fixed_weight(0));
	for (int k = 0; k < 1000; k++) {
		float weight = 1e-6f * (1 + (float)k / 997);
		double off = (double)sl_fixed_weight(weight) - 0x1p32 * (double)weight;

		assert_true(fabs(off) <= 0.5);
		sum += off;
	}
	assert_true(fabs(sum) < 4 * sqrt(1000 / 12.0));
}
