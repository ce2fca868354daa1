/* lane_check.c - see lane_check.h. */
#include "lane_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "hand_recipe.h"
#include "primitives/base/fault.h"
#include "stages/digest.h"
#include "schedules.h"
#include "stages/lane.h"
#include "tests/cases/thin.h"

/* A host's batch with its memory, or a lane with the memory of what comes home. */
struct side {
	struct sl_batch b;
	struct sl_exec x;
	struct sl_lane lane;
	void *block, *scratch, *of_device, *pinned;
};

static void *get(enum sl_space space, size_t bytes)
{
	void *p;

	assert_ok(sl_memory_get(space, bytes, &p));
	assert_ok(sl_fill(p, 0xa5, bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	return p;
}

static void open_host(struct side *s, const struct sl_recipe *r)
{
	struct sl_arena measure = {0}, cut = {0};

	memset(s, 0, sizeof(*s));
	sl_batch_lay_out(&measure, r, r->batch, &s->b);
	sl_bins_lay_out(&measure, r, &s->b);
	cut.size = measure.used;
	cut.base = s->block = malloc(cut.size);
	sl_batch_lay_out(&cut, r, r->batch, &s->b);
	sl_bins_lay_out(&cut, r, &s->b);
	s->x.scratch.size = sl_stages_scratch(r, r->batch);
	assert_ok(sl_memory_get(SL_HOST, s->x.scratch.size, &s->scratch));
	s->x.scratch.base = s->scratch;
}

static void close_host(struct side *s)
{
	free(s->block);
	sl_memory_give(SL_HOST, s->scratch);
}

static void open_lane(struct side *s, const struct sl_recipe *r)
{
	struct sl_arena device = {0}, pinned = {0}, d = {0}, p = {0};

	memset(s, 0, sizeof(*s));
	sl_lane_lay_out(&device, &pinned, r, r->batch, &s->lane);
	sl_table_lay_out(&pinned, r, r->batch, UINT32_MAX, &s->b.table);
	sl_bins_lay_out(&pinned, r, &s->b);
	d.size = device.used;
	d.base = s->of_device = get(SL_DEVICE, d.size);
	p.size = pinned.used;
	p.base = s->pinned = get(SL_PINNED, p.size);
	sl_lane_lay_out(&d, &p, r, r->batch, &s->lane);
	sl_table_lay_out(&p, r, r->batch, UINT32_MAX, &s->b.table);
	sl_bins_lay_out(&p, r, &s->b);
	assert_true(sl_fits(&d) && sl_fits(&p));
	assert_ok(sl_lane_open(&s->lane));
}

static void close_lane(struct side *s)
{
	sl_lane_close(&s->lane);
	sl_memory_give(SL_DEVICE, s->of_device);
	sl_memory_give(SL_PINNED, s->pinned);
}

static void assert_same(const struct sl_batch *a, const struct sl_batch *b)
{
	assert_int_equal(a->n_survivors, b->n_survivors);
	assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
	assert_int_equal(a->bin_words, b->bin_words);
	if (a->bin_words > 0)
		assert_memory_equal(a->bins, b->bins, a->bin_words * sizeof(*a->bins));
	assert_int_equal(a->table.n, b->table.n);
	for (uint32_t k = 0; k < a->table.n_columns; k++) {
		const struct sl_table_column *t = &a->table.column[k], *u = &b->table.column[k];

		assert_int_equal(t->column, u->column);
		assert_int_equal(t->constant, u->constant);
		assert_true(t->digest == u->digest);
		assert_memory_equal(t->data, u->data,
			(t->constant ? 1 : (size_t)a->table.n) * sl_column_facts[t->column].bytes);
	}
	assert_ok(sl_digest_check(&b->table));
}

static void make(const struct sl_recipe *r, struct side *host, const struct sl_recipe *on_device,
	struct side *lane, uint64_t number)
{
	uint64_t ns[SL_STAGE_COUNT] = {0};

	sl_batch_begin(r, &host->b, number);
	sl_batch_begin(r, &lane->b, number);
	assert_ok(sl_stages_run(r, &host->x, &host->b, NULL));
	assert_ok(sl_lane_run(on_device, &lane->lane, &lane->b, ns));
	assert_same(&host->b, &lane->b);
}

/* For a compact: there is none, as the batch is run in the other way. */
static const char *const fused = NULL;

/* The recipe with the device's kernels, and its backends of those names. */
static struct sl_recipe on_device(const struct sl_recipe *r, const char *compact, const char *sort)
{
	struct sl_recipe d = *r;

	d.kernels = sl_kernels_find();
	assert_non_null(d.kernels);
	d.mode = compact ? SL_MODE_staged : SL_MODE_fused;
	d.scan = d.compact = (struct sl_choice){0};
	if (compact)
		assert_ok(sl_find(SL_COMPACT, compact, &d.compact.backend));
	assert_ok(sl_find(SL_SORT, sort, &d.sort.backend));
	return d;
}

static void compare(const struct sl_recipe *r, const char *compact, const char *sort)
{
	struct sl_recipe d = on_device(r, compact, sort);
	struct side host, lane;

	open_host(&host, r);
	open_lane(&lane, &d);
	for (uint64_t k = 0; k < r->n_batches; k++)
		make(r, &host, &d, &lane, k);
	close_lane(&lane);
	close_host(&host);
}

static void compare_ways(const struct sl_recipe *r)
{
	compare(r, "naive", "naive");
	compare(r, fused, "naive");
}

/* Calls compare with each pair of a compact and a sort that the device has, and each sort, fused.
 */
static void each_pair(const struct sl_recipe *r)
{
	const struct sl_backend *c, *s;
	int pairs = 0;

	for (size_t i = 0; (s = sl_backend_at(i)) != NULL; i++)
		if (s->primitive == SL_SORT && s->space == SL_DEVICE)
			compare(r, fused, s->name);
	for (size_t i = 0; (c = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
			if (c->primitive == SL_COMPACT && s->primitive == SL_SORT &&
				c->space == SL_DEVICE && s->space == SL_DEVICE) {
				compare(r, c->name, s->name);
				pairs++;
			}
	assert_true(pairs > 0);
}

void lane_check_backends(uint32_t n)
{
	for (int model = 0; model < HAND_MODELS; model++) {
		struct sl_recipe r = hand_recipe((enum sl_model_number)model, n);

		each_pair(&r);
	}
}

static void check_shapes(enum sl_model_number model, uint32_t n)
{
	const struct sl_key_field eighths = {SL_COLUMN_id, 3, 0, n, false};
	struct sl_recipe r = hand_recipe(model, n);
	uint32_t keep = r.keep;

	compare_ways(&r);
	r.keep = 0;
	compare_ways(&r);
	r.keep = (1u << SL_FATE_COUNT) - 1;
	compare_ways(&r);
	r.n_fields = 0;
	compare_ways(&r);
	r = hand_recipe(model, n);
	r.keep = keep;
	r.field[1].bits = 31; /* more than 32 in all: keys of 64 bits */
	r.field[1].most = (UINT64_C(1) << 31) - 1;
	r.field[1].top = 0x1p31f;
	r.key_bits = r.field[0].bits + 31;
	compare_ways(&r);
	r = hand_recipe(model, n);
	r.keep = (1u << SL_FATE_COUNT) - 1;
	r.field[1] = r.field[0]; /* groups of ids, each sorted: where a group ends shows */
	r.field[0] = sl_key_rule_make(&eighths);
	r.key_bits = r.field[0].bits + r.field[1].bits;
	compare_ways(&r);
}

void lane_check_shapes(uint32_t largest)
{
	static const uint32_t sizes[] = {1, 2, 31, 257,
		320, /* columns end where the next begins, and a block has threads left over */
		4097, (1 << 20) + 3};

	for (int model = 0; model < HAND_MODELS; model++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if (sizes[i] <= largest)
				check_shapes((enum sl_model_number)model, sizes[i]);
}

/* --- fused ------------------------------------------------------------------------------------ */

/* Some survive, in the order of a key and of ids; all do. */
static void check_tiles(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = hand_recipe(model, n);

	compare(&r, fused, "naive");
	r.n_fields = 0;
	compare(&r, fused, "naive");
	r.keep = (1u << SL_FATE_COUNT) - 1;
	compare(&r, fused, "naive");
}

/* Every number of columns, and so every size of a record; columns of one value alone. */
static void check_tables(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = hand_recipe(model, n);
	uint32_t all = r.n_columns;

	for (r.n_columns = 1; r.n_columns <= all; r.n_columns++)
		compare(&r, fused, "naive");
	r.n_columns = 1;
	r.column[0] = SL_COLUMN_weight;
	/* of one value in all recipes but one */
	assert_int_equal(SL_HAS(r.constants, SL_COLUMN_weight), model != SL_MODEL_rays);
	compare(&r, fused, "naive");
	r.column[0] = SL_COLUMN_fate;
	compare(&r, fused, "naive");
}

/* A key of each column, and one of as many fields as there can be. */
static void check_keys(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = hand_recipe(model, n);
	uint32_t fields = 0;

	for (uint32_t k = 0; k < r.n_columns; k++) {
		bool number = sl_column_facts[r.column[k]].type != SL_TYPE_F32;
		const struct sl_key_field field = {
			r.column[k], 7, number ? 0 : -3, number ? n : 3, false};

		r.field[fields] = sl_key_rule_make(&field);
		r.n_fields = ++fields;
		r.key_bits = 7 * fields;
		if (fields == SL_KEY_FIELDS_MAX || k + 1 == r.n_columns)
			compare_ways(&r);
		fields %= SL_KEY_FIELDS_MAX;
		r.field[0] = sl_key_rule_make(&field);
		r.n_fields = 1;
		r.key_bits = 7;
		compare_ways(&r);
	}
}

void lane_check_tiles(uint32_t most, size_t step)
{
	/* a warp takes 32 particles at a time, a block 256 or some times as many */
	static const uint32_t sizes[] = {
		4097, 2303, 33, 511, 257, 513, 2047, 575, 255, 512, 4096, 256, 32};

	for (int model = 0; model < HAND_MODELS; model++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k += step)
			if (sizes[k] <= most)
				check_tiles((enum sl_model_number)model, sizes[k]);
}

/*
 * The more particles the more a block takes: one of the emulated device's 16 takes 512 from 8192
 * on, the most of histories, and 2048 from 32768 on.
 */
static void check_larger_tiles(void)
{
	for (int model = 0; model < HAND_MODELS; model++) {
		bool remade = sl_models[model]->remade;
		struct sl_recipe r =
			hand_recipe((enum sl_model_number)model, remade ? 32769 : 8193);

		r.n_batches = 1;
		compare(&r, fused, "naive");
	}
}

void lane_check_keys(uint32_t n)
{
	for (int model = 0; model < HAND_MODELS; model++)
		check_keys((enum sl_model_number)model, n);
}

/* A program of that operation on a column and a number, asked of all; step by step, as it is. */
static struct sl_condition condition_of(
	enum sl_column column, double number, enum sl_operation operation)
{
	struct sl_condition k = {.of = SL_EVERY_COLUMN,
		.columns = SL_BIT(column),
		.n_numbers = 1,
		.number = {number}};

	k.operation[k.n] = SL_OP_column;
	k.operand[k.n++] = (uint8_t)column;
	k.operation[k.n++] = SL_OP_number;
	k.operation[k.n++] = (uint8_t)operation;
	return k;
}

/* Every column, and every operation of two numbers, compared with a quarter in the end. */
static void check_conditions(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = hand_recipe(model, n);

	r.keep = (1u << SL_FATE_COUNT) - 1 - SL_BIT(SL_FATE_dropped);
	for (uint32_t k = 0; k < r.n_columns; k++) {
		bool id = r.column[k] == SL_COLUMN_id;
		struct sl_recipe other;

		r.condition = condition_of(r.column[k], id ? n / 2 : 0.25, SL_OP_more);
		compare_ways(&r);
		other = r; /* nobody else needs the column */
		other.n_columns = 1;
		other.n_fields = 0;
		compare(&other, fused, "naive");
	}
	for (int operation = SL_OP_plus; operation <= SL_OP_over; operation++) {
		struct sl_condition *k = &r.condition;

		*k = condition_of(SL_COLUMN_w, 3.1, (enum sl_operation)operation);
		k->operation[k->n++] = SL_OP_absolute;
		k->number[k->n_numbers] = 2.8;
		k->operation[k->n] = SL_OP_number;
		k->operand[k->n++] = (uint8_t)k->n_numbers++;
		k->operation[k->n++] = SL_OP_at_most;
		k->operation[k->n++] = SL_OP_opposite;
		compare_ways(&r);
	}
}

void lane_check_conditions(uint32_t n)
{
	for (int model = 0; model < HAND_MODELS; model++)
		check_conditions((enum sl_model_number)model, n);
}

void lane_check_fused(uint32_t most)
{
	lane_check_tiles(most, 1);
	if (most > 4096)
		check_larger_tiles();
	for (int i = 0; i < HAND_MODELS; i++) {
		enum sl_model_number model = (enum sl_model_number)i;

		check_tables(model, most < 700 ? most : 700);
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* The same living in each round, however they are counted. */
static void assert_same_rounds(const struct sl_rounds *a, const struct sl_rounds *b)
{
	assert_true(a->n > 0);
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->at[i].width, b->at[i].width);
		assert_int_equal(a->at[i].alive, b->at[i].alive);
		assert_int_equal(a->at[i].compacted, b->at[i].compacted);
		assert_int_equal(a->at[i].sorted, b->at[i].sorted);
	}
}

static void check_rounds(uint32_t n, const char *compact, const char *sort)
{
	for (int model = 0; model < HAND_MODELS; model++) {
		struct sl_recipe r = hand_recipe((enum sl_model_number)model, n);

		for (int i = 0; sl_models[model]->steps && i < SCHEDULES; i++) {
			struct sl_recipe d = on_device(&r, compact, sort);
			struct side host, lane;

			if (!sl_thin_takes())
				continue;
			r.schedule = d.schedule = schedule_at(i);
			open_host(&host, &r);
			open_lane(&lane, &d);
			make(&r, &host, &d, &lane, 0);
			assert_same_rounds(&host.b.rounds, &lane.b.rounds);
			close_lane(&lane);
			close_host(&host);
		}
	}
}

void lane_check_rounds(uint32_t n)
{
	check_rounds(n, "naive", "naive");
}

void lane_check_rounds_of_all(uint32_t n)
{
	const struct sl_backend *c, *s;

	for (size_t i = 0; (c = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
			if (c->primitive == SL_COMPACT && c->space == SL_DEVICE &&
				s->primitive == SL_SORT && s->space == SL_DEVICE &&
				strcmp(c->name, s->name) == 0)
				check_rounds(n, c->name, s->name);
}

/* --- tallies by bins -------------------------------------------------------------------------- */

/* Of columns from number at on, with ranges that leave some values out; how many there are. */
static uint32_t fields_of(
	const struct sl_recipe *r, uint32_t at, struct sl_bins_field field[SL_TALLIES_MAX])
{
	uint32_t some = SL_BIT(SL_FATE_transmitted) | SL_BIT(SL_FATE_hit);
	uint32_t fates = sl_models[r->model]->fates, n = 0;

	for (; at < r->n_columns && n < SL_TALLIES_MAX; at++) {
		bool number = sl_column_facts[r->column[at]].type != SL_TYPE_F32;
		uint32_t bins = 5 + n;

		if (r->column[at] == SL_COLUMN_id)
			continue;
		field[n] = (struct sl_bins_field){.column = r->column[at],
			.bins = bins,
			.fates = n % 2 ? some : fates,
			.lo = number ? 1 : -0.75,
			.hi = number ? 1 + 2 * bins : 0.75};
		n++;
	}
	return n;
}

/* All columns, by seven as well as by eight, the most; of counts alone, and of weights. */
static void check_tallies(struct sl_recipe *r)
{
	struct sl_bins_field field[SL_TALLIES_MAX];

	r->keep =
		(1u << SL_FATE_COUNT) - 1; /* a flag behind the fates would count as one of them */
	for (uint32_t at = 0; at < r->n_columns; at += SL_TALLIES_MAX - 1)
		for (uint32_t weighted = 0; weighted < 2; weighted++) {
			uint32_t n = fields_of(r, at, field);

			r->bins = sl_bins_make(
				field, n == SL_TALLIES_MAX ? n - weighted : n, weighted);
			compare_ways(r);
		}
}

/* As many counters as there can be, beside the largest records; a column that is not written. */
static void check_most(struct sl_recipe *r, bool weighted)
{
	const struct sl_bins_field most = {.column = SL_COLUMN_w,
		.bins = SL_BINS_SHARED / sl_bins_shared(1, weighted) - SL_BINS_OUTSIDE,
		.fates = r->keep,
		.lo = -1,
		.hi = 1};

	r->bins = sl_bins_make(&most, 1, weighted);
	compare_ways(r);
	r->n_columns = 1;
	compare_ways(r);
}

void lane_check_bins(uint32_t n)
{
	for (int model = 0; model < HAND_MODELS; model++)
		for (int weighted = 0; weighted < 2; weighted++) {
			struct sl_recipe r = hand_recipe((enum sl_model_number)model, n);
			struct sl_recipe other = r;

			check_most(&r, weighted);
			if (!weighted)
				check_tallies(&other);
		}
}

/* --- a lane used again ------------------------------------------------------------------------ */

static void reuse(uint32_t n, const char *compact)
{
	static const uint64_t order[] = {2, 0, 2, 1, 3, 3};
	struct sl_recipe r = hand_recipe(SL_MODEL_slab, n), d;
	struct side host, lane;

	r.particles = (uint64_t)n * 3 + n / 2; /* the last batch is half as large */
	r.n_batches = 4;
	d = on_device(&r, compact, "naive");
	open_host(&host, &r);
	open_lane(&lane, &d);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		make(&r, &host, &d, &lane, order[i]);
	close_lane(&lane);
	close_host(&host);
}

void lane_check_reuse(uint32_t n)
{
	reuse(n, "naive");
	reuse(n, fused);
}

/* --- flips ------------------------------------------------------------------------------------ */

/* Steps that have no factor in common with 64: word after word, every bit has its turn. */
enum { BIT_STEP = 37 };
enum { COPIES_MOST = 50 };

/* Runs the batch with a bit of its copy k flipped. Was it taken for whole? */
static bool is_taken(const struct sl_recipe *d, struct side *lane, unsigned k, size_t bit)
{
	char fault[64];
	enum sl_status s;

	snprintf(fault, sizeof(fault), "dev_flip:%u:%zu", k, bit);
	assert_null(sl_fault_set(fault));
	sl_batch_begin(d, &lane->b, 0);
	s = sl_lane_run(d, &lane->lane, &lane->b, NULL);
	if (s == SL_OK)
		s = sl_digest_check(&lane->b.table);
	if (s != SL_OK && (s != SL_DEVICE_FAILED || !strstr(sl_story(), "come whole")))
		fail_msg("%s: %s: %s", fault, sl_status_name(s), sl_story());
	return s == SL_OK;
}

/* Of the copies from the device: two of the census, the columns, two of the census. */
static uint32_t count_columns(const struct sl_table *t)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		n += !t->column[k].constant;
	return n;
}

/* Bits of the i-th column that is copied, as many as there are rows of. */
static size_t bits_of_column(const struct sl_table *t, uint32_t i)
{
	uint32_t k = 0;

	while (t->column[k].constant || i-- > 0)
		k++;
	return 8 * (size_t)t->n * sl_column_facts[t->column[k].column].bytes;
}

/*
 * Up to which bit to flip in the i-th copy from the device. Of a column as many as the census has,
 * but none twice, as they go round and round. What copies the census and compares it knows nothing
 * of models: of the first all bits are flipped, of others the first.
 */
static size_t last_bit(const struct sl_recipe *r, const struct sl_table *t, uint32_t i)
{
	const size_t census = 8 * sl_census_bytes(&r->bins);
	size_t round;

	if (i < 2 || i >= 2 + count_columns(t))
		return r->model == (enum sl_model_number)0 ? census : 1;
	round = BIT_STEP * bits_of_column(t, i - 2);
	return round < census ? round : census;
}

/* Flips bits of copy k, if it is one from the device, which it is the i-th of; else nothing must
 * have changed. */
static bool flip(
	const struct sl_recipe *d, struct side *host, struct side *lane, unsigned k, uint32_t i)
{
	if (is_taken(d, lane, k, 1)) {
		assert_same(&host->b, &lane->b);
		return false;
	}
	for (size_t bit = 1 + sl_thin_step(BIT_STEP); bit <= last_bit(d, &host->b.table, i);
		bit += sl_thin_step(BIT_STEP))
		if (is_taken(d, lane, k, bit))
			fail_msg("bit %zu of copy %u was not missed", bit, k);
	return true;
}

/* Behind the last copy there is none to flip: of such numbers the environment's share is tried. */
static void flip_each(enum sl_model_number model, uint32_t n, const char *compact)
{
	const struct sl_bins_field halves = {
		SL_COLUMN_w, 2, SL_BIT(SL_FATE_hit) | SL_BIT(SL_FATE_transmitted), -1, 1};
	struct sl_recipe r = hand_recipe(model, n), d;
	struct side host, lane;
	uint32_t flipped = 0, expected;

	r.n_fields = 0; /* thousands of batches: none is sorted */
	r.bins = sl_bins_make(&halves, 1, true);
	d = on_device(&r, compact, "naive");
	open_host(&host, &r);
	open_lane(&lane, &d);
	sl_batch_begin(&r, &host.b, 0);
	assert_ok(sl_stages_run(&r, &host.x, &host.b, NULL));
	assert_true(host.b.n_survivors > 0);
	expected = 4 + count_columns(&host.b.table);
	for (uint64_t k = 1; k <= COPIES_MOST; k += flipped < expected ? 1 : sl_thin_step(1))
		flipped += flip(&d, &host, &lane, (unsigned)k, flipped);
	sl_fault_set(NULL);
	assert_int_equal(flipped, expected);
	close_lane(&lane);
	close_host(&host);
}

void lane_check_flips(uint32_t n)
{
	for (int model = 0; model < HAND_MODELS; model++) {
		flip_each((enum sl_model_number)model, n, "naive");
		flip_each((enum sl_model_number)model, n, fused);
	}
}
