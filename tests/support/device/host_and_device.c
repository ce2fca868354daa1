/* host_and_device.c - see host_and_device.h. */
#include "tests/support/device/host_and_device.h"

#include "stages/host/host.h"
#include "stages/particle/digest.h"
#include "tests/support/basic/check.h"

static void *filled_get(enum sl_space space, size_t bytes, unsigned char byte)
{
	void *p;

	assert_ok(sl_memory_get(space, bytes, &p));
	assert_ok(sl_fill(p, byte, bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	return p;
}

void *poisoned_get(enum sl_space space, size_t bytes)
{
	return filled_get(space, bytes, 0xa5);
}

static void lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	struct test_batch *s)
{
	bool packed = r->pack.form != SL_AS_COLUMNS;

	sl_device_pipeline_lay_out(device, pinned, r, r->batch, &s->pipeline);
	sl_table_lay_out(pinned, r, r->batch, packed ? r->unpacked : UINT32_MAX, &s->b.table);
	sl_tallies_lay_out(pinned, r, &s->b);
	if (packed)
		sl_device_packed_lay_out(pinned, r, r->batch, &s->b.device_packed);
}

void test_batch_open_device(struct test_batch *s, const struct sl_recipe *r, unsigned char poison)
{
	struct sl_arena device = {0}, pinned = {0}, d = {0}, p = {0};
	struct sl_recipe copy = *r;
	const struct sl_rules_data *data = sl_recipe_data(&copy);

	memset(s, 0, sizeof(*s));
	lay_out(&device, &pinned, r, s);
	d.size = device.used;
	d.base = s->device_memory = filled_get(SL_DEVICE, d.size, poison);
	p.size = pinned.used;
	p.base = s->pinned = poisoned_get(SL_PINNED, p.size);
	lay_out(&d, &p, r, s);
	assert_true(sl_fits(&d) && sl_fits(&p));
	if (data) {
		s->rules_data = poisoned_get(SL_DEVICE, data->bytes);
		assert_ok(sl_copy(s->rules_data, data->at, data->bytes, NULL));
		assert_ok(sl_stream_wait(NULL));
		sl_device_pipeline_use_data(r, s->rules_data, &s->pipeline);
	}
	assert_ok(sl_device_pipeline_open(&s->pipeline));
}

void test_batch_close_device(struct test_batch *s)
{
	sl_device_pipeline_close(&s->pipeline);
	sl_memory_give(SL_DEVICE, s->device_memory);
	sl_memory_give(SL_DEVICE, s->rules_data);
	sl_memory_give(SL_PINNED, s->b.device_packed.bytes);
	sl_memory_give(SL_PINNED, s->pinned);
}

/* Each round has the same width and number of living particles, and was compacted alike. */
static void assert_same_rounds(const struct sl_rounds *a, const struct sl_rounds *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->at[i].width, b->at[i].width);
		assert_int_equal(a->at[i].alive, b->at[i].alive);
		assert_int_equal(a->at[i].compacted, b->at[i].compacted);
	}
}

void assert_same_batch(const struct sl_batch *a, const struct sl_batch *b)
{
	assert_int_equal(a->n_survivors, b->n_survivors);
	assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
	assert_int_equal(a->bin_words, b->bin_words);
	if (a->bin_words > 0)
		assert_memory_equal(a->bins, b->bins, a->bin_words * sizeof(*a->bins));
	assert_same_rounds(&a->rounds, &b->rounds);
	assert_int_equal(a->table.n, b->table.n);
	for (uint32_t k = 0; k < a->table.n_columns; k++) {
		const struct sl_table_column *t = &a->table.column[k], *u = &b->table.column[k];

		assert_int_equal(t->column, u->column);
		assert_int_equal(t->constant, u->constant);
		assert_true(t->digest == u->digest);
		if (u->data)
			assert_memory_equal(t->data, u->data,
				(t->constant ? 1 : (size_t)a->table.n) *
					sl_column_facts[t->column].bytes);
	}
}

void run_host_and_device(const struct sl_recipe *r, struct batch_memory *host,
	const struct sl_recipe *on_device, struct test_batch *pipeline, uint64_t number)
{
	uint64_t ns[SL_STAGE_COUNT] = {0};

	run_batch(r, host, number);
	sl_batch_begin(r, &pipeline->b, number);
	pipeline->b.device_packed.wanted = on_device->pack.form != SL_AS_COLUMNS;
	assert_ok(sl_device_pipeline_run(on_device, &pipeline->pipeline, &pipeline->b, ns));
	assert_same_batch(&host->b, &pipeline->b);
	if (on_device->pack.form == SL_AS_COLUMNS)
		assert_ok(sl_digest_check(&pipeline->b.table));
}

struct sl_recipe recipe_on_device(const struct sl_recipe *r, const char *compact, const char *sort)
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
