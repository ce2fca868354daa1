/*
 * host_pipeline.c - compares batches of random recipes, run through all stages on the host at each
 * CPU level, with particles that are computed one by one. Also tests rounds, cancellation, wrong
 * fates, times, and weights of tallies.
 *
 * Recipes are made without a configuration (models/random_batches.h, basic/test_recipes.h).
 */
#include "stages/models/models.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/schedules.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/models/random_batches.h"

#include "stages/host/host.h"
#include "stages/particle/digest.h"
#include "stages/particle/weight.h"
#include "stages/rounds/rounds.h"

/* --- what a batch must be --------------------------------------------------------------------- */

/* The value of column k in a row must be that of the particle, which is returned. */
static uint64_t check_value(
	const struct sl_batch *b, uint32_t k, uint32_t row, const struct sl_particle *p)
{
	const struct sl_table_column *c = &b->table.column[k];
	const struct sl_column_facts *facts = &sl_column_facts[c->column];
	const size_t at = c->constant ? 0 : (size_t)row * facts->bytes;
	uint64_t want = 0;

	memcpy(&want, (const char *)p + facts->in_particle, facts->bytes);
	if (c->data && memcmp((const char *)c->data + at, &want, facts->bytes) != 0)
		fail_msg("row %u: column %s differs from that of particle %llu", row, facts->name,
			(unsigned long long)p->id);
	return want;
}

/* Each row equals its recomputed particle; rows are in the order of the key, then of the id. */
static void check_rows(const struct sl_recipe *r, const struct sl_batch *b)
{
	uint64_t last_key = 0, last_id = 0, digest[SL_COLUMN_COUNT] = {0};

	assert_int_equal(b->n_survivors, b->table.n);
	for (uint32_t j = 0; j < b->table.n; j++) {
		uint64_t id = sl_batch_id(b, b->index[j]), key;
		struct sl_particle p = sl_compute_particle(r, id);
		const struct sl_columns one = sl_columns_of(&p);

		assert_true(id >= b->first_id && id < b->first_id + b->n && p.id == id);
		assert_true(SL_HAS(r->keep, p.fate));
		for (uint32_t k = 0; k < b->table.n_columns; k++)
			digest[k] += sl_digest_item(sl_digest_weight(j), check_value(b, k, j, &p));
		key = sl_key_pack(r->field, r->n_fields, &one, 0, id);
		assert_true(j == 0 || key > last_key || (key == last_key && id > last_id));
		last_key = key;
		last_id = id;
	}
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		assert_true(digest[k] == b->table.column[k].digest);
}

/*
 * Constants are one value in the recipe; of columns that are only digested there are no items, but
 * in rounds.
 */
static void check_memory(const struct sl_recipe *r, const struct sl_batch *b)
{
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];
		const char *constants = (const char *)&r->constant;

		assert_int_equal(SL_HAS(r->constants, c->column), c->constant);
		if (c->constant)
			assert_ptr_equal(
				c->data, constants + sl_column_facts[c->column].in_particle);
		else
			assert_int_equal(
				!c->data, r->schedule.steps == 0 && SL_HAS(r->digested, c->column));
	}
}

/*
 * The counters of the rounds are consistent. alive[k]: the particles that take more than k rounds.
 * The round at whose begin few enough are alive takes all of their steps, and is the last; the last
 * entry counts all later rounds.
 */
static void check_rounds(const struct sl_recipe *r, const struct sl_batch *b,
	const uint64_t alive[SL_ROUNDS_MAX + 1])
{
	const struct sl_rounds *rounds = &b->rounds;
	const uint32_t n = rounds->n;

	assert_int_equal(n > 0, r->schedule.steps > 0);
	assert_int_equal(n, rounds->longest < SL_ROUNDS_MAX ? rounds->longest : SL_ROUNDS_MAX);
	assert_true(n == 0 || rounds->at[0].width == b->n);
	for (uint32_t i = 0; i < n; i++) {
		const struct sl_round *now = &rounds->at[i];
		bool moved = now->compacted, many = rounds->longest > n;
		bool finishes = i > 0 && (double)alive[i] < r->schedule.finish * b->n;

		assert_int_equal(now->batches, 1);
		if (i + 1 == n)
			assert_true(many || (now->alive == 0 && (finishes || alive[n] == 0)));
		else
			assert_true(now->alive == alive[i + 1] && now->alive > 0 && !finishes);
		if (i + 2 < n)
			assert_int_equal(now[1].width, moved ? now->alive : now->width);
	}
}

/* The tally and the marks equal those of all recomputed particles. Blocks overwrite the marks. */
static void check_all_particles(const struct sl_recipe *r, const struct sl_batch *b)
{
	uint64_t alive[SL_ROUNDS_MAX + 1] = {0};
	struct sl_tally want;
	uint32_t survivors = 0;

	memset(&want, 0, sizeof(want));
	for (uint64_t i = 0; i < b->n; i++) {
		struct sl_particle p = sl_compute_particle(r, b->first_id + i);

		want.count[p.fate]++;
		want.weight[p.fate] += sl_fixed_weight(p.weight * sl_weight_scale(r));
		want.square[p.fate] += sl_fixed_square(p.weight * sl_square_scale(r));
		want.steps += p.steps;
		want.collisions += p.collisions;
		survivors += SL_HAS(r->keep, p.fate);
		if (!b->place)
			assert_int_equal(SL_HAS(r->keep, p.fate), b->keep[i]);
		for (uint64_t k = 0; k <= SL_ROUNDS_MAX && p.steps > k * r->schedule.steps; k++)
			alive[k]++;
	}
	assert_memory_equal(&want, &b->tally, sizeof(want));
	assert_int_equal(survivors, b->n_survivors);
	check_rounds(r, b, alive);
}

/* Any counter that is too large is noticed, except those of scores. Some are tried. */
static void check_counters(const struct sl_recipe *r, struct sl_batch *b)
{
	const uint32_t words = r->grids.scored ? 0 : b->bin_words;

	for (uint32_t k = 0; k < words; k += 1 + words / 50) {
		b->bins[k]++;
		assert_fails(sl_check_tallies(r, b), SL_CHECK_FAILED, "do not add up");
		b->bins[k]--;
	}
}

static void check_batch(const struct sl_recipe *r, struct batch_memory *m, uint64_t number)
{
	run_batch(r, m, number);
	check_rows(r, &m->b);
	check_memory(r, &m->b);
	check_all_particles(r, &m->b);
	check_counters(r, &m->b);
}

/* --- random recipes --------------------------------------------------------------------------- */

/* The levels that this CPU has, the last of which is the baseline. */
static size_t find_levels(const struct sl_loops *levels[8])
{
	const struct sl_loops *level;
	size_t n = 0;

	assert_null(sl_find_loops("none"));
	for (size_t k = 0; (level = sl_loops_at(k)) != NULL; k++) {
		levels[n] = sl_find_loops(level->level);
		assert_true(!levels[n] || levels[n] == level);
		if (!levels[n])
			print_message("no %s: the level is not tested\n", level->level);
		n += levels[n] != NULL;
	}
	assert_true(n > 0 && levels[n - 1] == sl_find_loops("baseline"));
	return n;
}

/* Ids of 2^40 and more, also in the key. Returns the number of the last batch. */
static uint64_t add_batches(struct sl_recipe *r)
{
	const struct sl_key_field id = {
		.column = SL_COLUMN_id, .bits = 4, .lo = 0x1p40 - 776, .hi = 0x1p40 + 16};

	r->particles = (UINT64_C(1) << 40) + 17;
	if (r->n_fields > 0 && r->n_fields < SL_KEY_FIELDS_MAX && r->key_bits <= 60) {
		r->field[r->n_fields++] = sl_key_rule_make(&id);
		r->key_bits += id.bits;
	}
	return (r->particles - 1) / r->batch;
}

/* In memory with any previous contents, and as a whole or in blocks. */
TEST(tables_equal_recomputed_particles)
{
	enum { RECIPES = 3000, LARGEST = 12289 };
	static const sl_column_set sets[] = {0, SL_EVERY_COLUMN, ~SL_BIT(SL_COLUMN_x),
		~SL_BIT(SL_COLUMN_id), SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_fate)};
	const struct sl_loops *levels[8];
	size_t n = find_levels(levels);

	for (uint64_t seed = 0; seed < RECIPES; seed++) {
		struct sl_recipe r = random_batches(seed, LARGEST);
		bool whole = seed % 3 == 0;
		uint64_t last = seed % 11 < 2 ? add_batches(&r) : r.n_batches - 1;
		struct batch_memory m;

		if (!sl_sampling_selects())
			continue;
		r.loops = levels[seed % n];
		r.compact.backend = seed % 2 ? &sl_compact_cpu_scan : &sl_compact_cpu;
		r.digested = whole ? 0 : sets[seed % 5];
		r.constants = seed % 4 == 0 ? 0 : r.constants;
		print_message("seed %llu, level %s\n", (unsigned long long)seed, r.loops->level);
		(whole ? open_whole_batch_memory : open_batch_memory)(&m, &r, 0xa5);
		assert_int_equal(m.b.place == NULL, whole || r.schedule.steps > 0);
		for (uint64_t k = r.n_batches; k-- > 0;)
			check_batch(&r, &m, last - k);
		close_batch_memory(&m);
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* A batch of one particle that the surface of the slab reflects at the start. */
TEST(batch_without_active_particles)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 1);
	struct batch_memory m;

	while (sl_compute_particle(&r, r.particles - 1).steps > 0)
		r.particles++;
	r.schedule = schedule_at(1);
	open_batch_memory(&m, &r, 0xa5);
	check_batch(&r, &m, r.particles - 1);
	assert_int_equal(m.b.rounds.longest, 1);
	close_batch_memory(&m);
}

/* Two rounds of one batch and one of another: each counter is added up. */
TEST(rounds_of_batches_are_summed)
{
	const struct sl_rounds a = {
		.n = 2, .longest = 2, .at = {{1, 2, 3, 4, 5, 6}, {.batches = 9}}};
	const struct sl_rounds b = {.n = 1, .longest = 1, .at = {{10, 20, 30, 40, 50, 60}}};
	const struct sl_rounds both = {
		.n = 2, .longest = 2, .at = {{11, 22, 33, 44, 55, 66}, {.batches = 9}}};
	struct sl_rounds sum = {0};

	sl_rounds_add(&sum, &a);
	sl_rounds_add(&sum, &b);
	assert_memory_equal(&sum, &both, sizeof(sum));
}

/* --- stages ----------------------------------------------------------------------------------- */

/* Between stages, and between rounds. */
TEST(a_cancelled_batch_stops)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 1000);
	atomic_int cancel = 0;
	struct batch_memory m;

	r.schedule = schedule_at(1);
	r.cancel = &cancel;
	open_batch_memory(&m, &r, 0);
	run_batch(&r, &m, 0);
	cancel = 1;
	sl_batch_begin(&r, &m.b, 0);
	assert_fails(sl_stages_run(&r, &m.x, &m.b, NULL), SL_STOPPED,
		"batch 0, stage generate: cancelled: the run was asked to stop");
	assert_fails(sl_stages[SL_STAGE_advance].on_host(&r, &m.x, &m.b), SL_STOPPED,
		"cancelled: the run was asked to stop");
	close_batch_memory(&m);
}

/* A fate that was changed in memory is detected. */
TEST(wrong_fate_counts_are_detected)
{
	const uint8_t wrong[] = {SL_FATE_alive, SL_FATE_hit, SL_FATE_COUNT, 255};
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 20000);
	struct batch_memory m;

	open_whole_batch_memory(&m, &r, 0);
	for (int i = 0; i < 4; i++) {
		run_batch(&r, &m, 0);
		m.b.columns.fate[17000] = wrong[i];
		memset(&m.b.tally, 0, sizeof(m.b.tally)); /* mark adds to the counts of a batch */
		assert_fails(sl_stages[SL_STAGE_mark].on_host(&r, &m.x, &m.b), SL_CHECK_FAILED,
			wrong[i] < SL_FATE_COUNT
				? "fate counts sum to 20000 for 20000 particles, 1 with a fate"
				: "fate counts sum to 19999 for 20000 particles");
		assert_int_equal(0, m.b.keep[17000]);
	}
	close_batch_memory(&m);
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
	static const struct {
		float weight;
		uint64_t fixed;
	} rows[] = {{1, UINT64_C(1) << 32}, {0x1.fffffep-1f, (UINT64_C(1) << 32) - 256},
		{0x1.000002p-9f, (1 << 23) + 1}, {0x1.fffffep-10f, 1 << 23},
		{0x1.fffffcp-10f, (1 << 23) - 1}, {0x1p-33f, 1}, {0x1.fffffcp-34f, 0}, {0, 0}};
	double sum = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(rows[i].fixed, sl_fixed_weight(rows[i].weight));
	for (int k = 0; k < 1000; k++) {
		float weight = 1e-6f * (1 + (float)k / 997);
		double off = (double)sl_fixed_weight(weight) - 0x1p32 * (double)weight;

		assert_true(fabs(off) <= 0.5);
		sum += off;
	}
	assert_true(fabs(sum) < 4 * sqrt(1000 / 12.0));
}
