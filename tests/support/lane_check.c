/* lane_check.c - see lane_check.h. */
#include "lane_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "hand_recipe.h"
#include "primitives/base/fault.h"
#include "stages/digest.h"
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
	cut.size = measure.used;
	cut.base = s->block = malloc(cut.size);
	sl_batch_lay_out(&cut, r, r->batch, &s->b);
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
	sl_table_lay_out(&pinned, r, r->batch, &s->b.table);
	d.size = device.used;
	d.base = s->of_device = get(SL_DEVICE, d.size);
	p.size = pinned.used;
	p.base = s->pinned = get(SL_PINNED, p.size);
	sl_lane_lay_out(&d, &p, r, r->batch, &s->lane);
	sl_table_lay_out(&p, r, r->batch, &s->b.table);
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
	for (int model = 0; model < SL_MODEL_COUNT; model++) {
		struct sl_recipe r = hand_recipe((enum sl_model_number)model, n);

		each_pair(&r);
	}
}

static void check_shapes(enum sl_model_number model, uint32_t n)
{
	const struct sl_key_field eighths = {SL_COLUMN_id, 3, 0, n};
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

	for (int model = 0; model < SL_MODEL_COUNT; model++)
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
		const struct sl_key_field field = {r.column[k], 7, number ? 0 : -3, number ? n : 3};

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
	/* a block takes 512 particles at a time, or 2048, a warp 32 of them at a time */
	static const uint32_t sizes[] = {
		4097, 2303, 33, 511, 2049, 513, 2047, 575, 2048, 512, 4096, 32};

	for (int model = 0; model < SL_MODEL_COUNT; model++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k += step)
			if (sizes[k] <= most)
				check_tiles((enum sl_model_number)model, sizes[k]);
}

void lane_check_keys(uint32_t n)
{
	for (int model = 0; model < SL_MODEL_COUNT; model++)
		check_keys((enum sl_model_number)model, n);
}

void lane_check_fused(uint32_t most)
{
	lane_check_tiles(most, 1);
	for (int i = 0; i < SL_MODEL_COUNT; i++) {
		enum sl_model_number model = (enum sl_model_number)i;

		check_tables(model, most < 700 ? most : 700);
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
enum { BIT_STEP = 13 };
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

/* Flips bits of copy k, if it is one from the device; else nothing must have changed. */
static bool flip(const struct sl_recipe *d, struct side *host, struct side *lane, unsigned k)
{
	const size_t bits = 8 * sizeof(struct sl_census);

	if (is_taken(d, lane, k, 1)) {
		assert_same(&host->b, &lane->b);
		return false;
	}
	for (size_t bit = 1 + sl_thin_step(BIT_STEP); bit <= bits; bit += sl_thin_step(BIT_STEP))
		if (is_taken(d, lane, k, bit))
			fail_msg("bit %zu of copy %u was not missed", bit, k);
	return true;
}

static void flip_each(enum sl_model_number model, uint32_t n, const char *compact)
{
	struct sl_recipe r = hand_recipe(model, n), d;
	struct side host, lane;
	unsigned flipped = 0, columns = 0;

	r.n_fields = 0; /* thousands of batches: none is sorted */
	d = on_device(&r, compact, "naive");
	open_host(&host, &r);
	open_lane(&lane, &d);
	sl_batch_begin(&r, &host.b, 0);
	assert_ok(sl_stages_run(&r, &host.x, &host.b, NULL));
	assert_true(host.b.n_survivors > 0);
	for (unsigned k = 1; k <= COPIES_MOST; k++)
		flipped += flip(&d, &host, &lane, k);
	sl_fault_set(NULL);
	for (uint32_t k = 0; k < r.n_columns; k++)
		columns += !lane.b.table.column[k].constant;
	assert_int_equal(flipped, 4 + columns);
	close_lane(&lane);
	close_host(&host);
}

void lane_check_flips(uint32_t n)
{
	for (int model = 0; model < SL_MODEL_COUNT; model++) {
		flip_each((enum sl_model_number)model, n, "naive");
		flip_each((enum sl_model_number)model, n, fused);
	}
}
