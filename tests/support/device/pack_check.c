/* pack_check.c - see pack_check.h. */
#include "pack_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "host_and_device.h"
#include "mcpl_pack_check.h"
#include "primitives/files/crc32.h"
#include "stages/particle/digest.h"
#include "stages/formats/common/inflate.h"
#include "stages/device/device_pipeline.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_header.h"
#include "stages/host/batch_layout.h"

/* Bytes of a chunk: 64 items of 8 bytes, 128 of 4. The device encoder ignores the level. */
enum { CHUNK = 512, LEVEL = 6 };

/* How survivors are packed and transferred. */
static const struct output {
	enum sl_transfer_form form;
	struct sl_device_packing packing;
} outputs[] = {
	{SL_AS_STREAMS, {.chunk_bytes = CHUNK, .wrapper = SL_ZLIB, .planes = true}},
	{SL_AS_RECORDS, {.records = true}},
	{SL_AS_STREAMS, {.records = true, .chunk_bytes = CHUNK, .wrapper = SL_GZIP}},
	{SL_AS_STREAMS, {.chunk_bytes = SIZE_MAX, .wrapper = SL_GZIP, .constants = true}},
};
enum { N_OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

/* MCPL records with one energy for all particles, and with ids as user flags. */
static const struct sl_mcpl_facts record_facts = {.pdg = 22, .energy = 2e-3, .flags = SL_COLUMN_id};

/* Sets the output of a recipe; the column w is also received unpacked. */
static void set_pack_rule(struct sl_recipe *d, const struct output *output)
{
	struct sl_arena none = {0};
	struct sl_table t;

	d->pack = (struct sl_pack_rule){
		.form = output->form, .packing = output->packing, .level = LEVEL};
	d->unpacked = SL_BIT(SL_COLUMN_w);
	if (output->form == SL_AS_STREAMS)
		assert_ok(sl_find(SL_DEFLATE, "device", &d->pack.backend));
	sl_table_lay_out(&none, d, 0, 0, &t);
	if (output->packing.records)
		assert_ok(sl_mcpl_record_of(&t, &record_facts, &d->pack.record));
}

/* A batch of the host, and a device pipeline with the batch received from it. */
struct batch_pair {
	struct sl_batch host, received;
	struct sl_exec x;
	struct sl_device_pipeline pipeline;
	void *block, *scratch, *device_memory, *pinned;
};

static void lay_out_pipeline(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, struct batch_pair *s)
{
	sl_device_pipeline_lay_out(device, pinned, r, r->batch, &s->pipeline);
	sl_table_lay_out(pinned, r, r->batch, r->unpacked, &s->received.table);
	sl_device_packed_lay_out(pinned, r, r->batch, &s->received.device_packed);
}

/* Allocates an arena of the measured size. */
static struct sl_arena arena_of(enum sl_space space, size_t bytes, void **memory)
{
	*memory = poisoned_get(space, bytes);
	return (struct sl_arena){.base = *memory, .size = bytes};
}

static void open_pair(const struct sl_recipe *r, const struct sl_recipe *d, struct batch_pair *s)
{
	struct sl_arena host = {0}, device = {0}, pinned = {0};

	memset(s, 0, sizeof(*s));
	sl_batch_lay_out(&host, r, r->batch, &s->host);
	host = arena_of(SL_HOST, host.used, &s->block);
	sl_batch_lay_out(&host, r, r->batch, &s->host);
	s->x.scratch = arena_of(SL_HOST, sl_stages_scratch(r, r->batch), &s->scratch);
	lay_out_pipeline(&device, &pinned, d, s);
	device = arena_of(SL_DEVICE, device.used, &s->device_memory);
	pinned = arena_of(SL_PINNED, pinned.used, &s->pinned);
	lay_out_pipeline(&device, &pinned, d, s);
	assert_true(sl_fits(&device) && sl_fits(&pinned));
	assert_ok(sl_device_pipeline_open(&s->pipeline));
}

static void close_pair(struct batch_pair *s)
{
	sl_device_pipeline_close(&s->pipeline);
	sl_memory_give(SL_DEVICE, s->device_memory);
	sl_memory_give(SL_PINNED, s->pinned);
	sl_memory_give(SL_HOST, s->block);
	sl_memory_give(SL_HOST, s->scratch);
}

/* The streams of a column inflate to its chunks, shuffled in byte planes; zeros pad the last chunk. */
static void check_column(
	const struct sl_table_column *c, uint32_t n, const uint8_t **at, const size_t **stream)
{
	uint32_t item = sl_column_facts[c->column].bytes, items = CHUNK / item;
	const uint8_t *column = (const uint8_t *)c->data;
	uint8_t chunk[CHUNK];

	items = n < items ? n : items;
	for (uint32_t first = 0; first < n; first += items) {
		assert_ok(sl_inflate_whole(SL_ZLIB, *at, **stream, chunk, (size_t)items * item));
		for (uint32_t i = 0; i < items; i++)
			for (uint32_t b = 0; b < item; b++) {
				size_t row = (size_t)first + i;

				assert_int_equal(
					chunk[b * items + i], row < n ? column[row * item + b] : 0);
			}
		*at += *(*stream)++;
	}
}

static void check_box(const struct batch_pair *s)
{
	for (uint32_t k = 0; k < s->host.table.n_columns; k++) {
		const struct sl_table_column *c = &s->host.table.column[k];
		int axis = (int)c->column - (int)SL_COLUMN_x;
		float lo = INFINITY, hi = -INFINITY;

		if (c->constant || axis < 0 || axis > 2)
			continue;
		for (uint32_t i = 0; i < s->host.table.n; i++) {
			lo = fminf(lo, ((const float *)c->data)[i]);
			hi = fmaxf(hi, ((const float *)c->data)[i]);
		}
		assert_true(s->received.device_packed.lo[axis] == lo &&
			    s->received.device_packed.hi[axis] == hi);
	}
}

static void check_columns(const struct batch_pair *s)
{
	const struct sl_device_packed *p = &s->received.device_packed;
	const uint8_t *at = p->bytes;
	const size_t *stream = p->stream;

	for (uint32_t k = 0; k < s->host.table.n_columns; k++)
		if (!s->host.table.column[k].constant)
			check_column(&s->host.table.column[k], s->host.n_survivors, &at, &stream);
	assert_int_equal(at - p->bytes, p->used);
	check_box(s);
}

/* A gzip member inflates to exactly these bytes. */
static void check_member(const uint8_t *at, size_t used, const uint8_t *expected, size_t bytes)
{
	uint8_t *found = (uint8_t *)malloc(bytes);

	assert_non_null(found);
	assert_ok(sl_inflate_whole(SL_GZIP, at, used, found, bytes));
	assert_memory_equal(found, expected, bytes);
	free(found);
}

/* Each column is one gzip member, not shuffled; a constant column has its value in every row. */
static void check_whole_columns(const struct batch_pair *s)
{
	const struct sl_device_packed *p = &s->received.device_packed;
	const size_t *stream = p->stream;
	size_t used = 0, n = s->host.n_survivors;
	uint8_t *items = (uint8_t *)malloc(n * sizeof(uint64_t) + 1);

	assert_non_null(items);
	for (uint32_t k = 0; n > 0 && k < s->host.table.n_columns; k++) {
		const struct sl_table_column *c = &s->host.table.column[k];
		size_t item = sl_column_facts[c->column].bytes;

		for (size_t i = 0; i < n; i++)
			memcpy(items + i * item,
				(const char *)c->data + (c->constant ? 0 : i * item), item);
		check_member(p->bytes + used, *stream, items, n * item);
		used += *stream++;
	}
	assert_int_equal(used, p->used);
	check_box(s);
	free(items);
}

/* Records are not compressed, or are in gzip members of at most CHUNK bytes each. */
static void check_records(const struct sl_pack_rule *rule, const struct batch_pair *s)
{
	const struct sl_device_packed *p = &s->received.device_packed;
	size_t most = CHUNK / rule->record.bytes * rule->record.bytes, bytes, used = 0, k = 0;
	uint8_t *records = records_of_host(&s->host.table, &record_facts, &bytes);

	if (rule->form == SL_AS_RECORDS) {
		assert_int_equal(p->used, bytes);
		assert_memory_equal(p->bytes, records, bytes);
	}
	for (size_t at = 0; rule->form == SL_AS_STREAMS && at < bytes; at += most) {
		size_t left = bytes - at;

		check_member(
			p->bytes + used, p->stream[k], records + at, left < most ? left : most);
		used += p->stream[k++];
	}
	assert_true(rule->form == SL_AS_RECORDS || used == p->used);
	free(records);
}

static void check_packed_streams(const struct sl_pack_rule *rule, const struct batch_pair *s)
{
	struct sl_device_packed packed = s->received.device_packed;
	uint32_t n = s->host.n_survivors;

	assert_int_equal(s->received.n_survivors, n);
	assert_int_equal(s->received.table.n, n);
	for (uint32_t k = 0; k < s->host.table.n_columns; k++)
		assert_true(s->host.table.column[k].digest == s->received.table.column[k].digest);
	if (rule->packing.records)
		check_records(rule, s);
	else if (rule->packing.planes)
		check_columns(s);
	else
		check_whole_columns(s);
	assert_ok(sl_device_packed_check(&packed));
	assert_true(packed.has_crc);
	assert_int_equal(packed.crc, sl_crc32(packed.bytes, packed.used));
}

/* Exactly the unpacked columns of the recipe are received, and they equal those of the host. */
static void check_unpacked_columns(const struct sl_recipe *d, const struct batch_pair *s)
{
	for (uint32_t k = 0; k < s->host.table.n_columns; k++) {
		const struct sl_table_column *c = &s->host.table.column[k];
		const void *received = s->received.table.column[k].data;

		if (c->constant)
			continue;
		assert_int_equal(received != NULL, SL_HAS(d->unpacked, c->column));
		if (received)
			assert_memory_equal(received, c->data,
				(size_t)s->host.table.n * sl_column_facts[c->column].bytes);
	}
}

static void compare(const struct sl_recipe *r, enum sl_mode mode, const struct output *output)
{
	struct sl_recipe d = *r;
	uint64_t ns[SL_STAGE_COUNT] = {0};
	struct batch_pair s;

	d.kernels = sl_kernels_find();
	d.mode = mode;
	d.scan = d.compact = (struct sl_choice){0};
	if (mode == SL_MODE_staged)
		assert_ok(sl_find(SL_COMPACT, "naive", &d.compact.backend));
	assert_ok(sl_find(SL_SORT, "naive", &d.sort.backend));
	set_pack_rule(&d, output);
	open_pair(r, &d, &s);
	for (int repeat = 0; repeat < 2; repeat++) {
		sl_batch_begin(r, &s.host, 0);
		sl_batch_begin(r, &s.received, 0);
		s.received.device_packed.wanted = true;
		assert_ok(sl_stages_run(r, &s.x, &s.host, NULL));
		assert_ok(sl_device_pipeline_run(&d, &s.pipeline, &s.received, ns));
		check_packed_streams(&d.pack, &s);
		check_unpacked_columns(&d, &s);
	}
	close_pair(&s);
}

/* With survivors, then without. */
static void compare_model(int model, enum sl_mode mode, uint32_t n, const struct output *output)
{
	struct sl_recipe r = test_recipe((enum sl_model_number)model, n);

	compare(&r, mode, output);
	r.keep = 0;
	compare(&r, mode, output);
}

void pack_check_pipelines(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++)
		for (int mode = 0; mode < SL_MODE_COUNT; mode++)
			compare_model(model, (enum sl_mode)mode, n, &outputs[0]);
}

/* All stages before the packing are the same for each output, so each is tested with half of the models. */
void pack_check_forms(uint32_t n)
{
	for (int i = 1; i < N_OUTPUTS; i++)
		for (int model = i % 2; model < TEST_MODELS; model += 2)
			compare_model(
				model, (enum sl_mode)(model / 2 % SL_MODE_COUNT), n, &outputs[i]);
}

/* Expects that each job fits into the memory of p; returns the number of jobs. */
static uint32_t check_jobs(const struct sl_recipe *d, const struct sl_pack *p, uint32_t rows)
{
	struct sl_pack_part part[SL_COLUMN_COUNT];
	struct sl_deflate_part input[SL_COLUMN_COUNT];
	struct sl_arena none = {0};
	struct sl_table t;
	uint32_t n, end, jobs = 0;

	sl_table_lay_out(&none, d, rows, 0, &t);
	t.n = rows;
	n = sl_pack_parts(&d->pack, &t, NULL, part);
	for (uint32_t from = 0; from < n; from = end, jobs++) {
		size_t filled = 0;

		end = sl_pack_job_end(&d->pack, p, part, from, n);
		assert_in_range(end, from + 1, n);
		for (uint32_t k = from; k < end; k++) {
			input[k - from] = sl_pack_input(&part[k]);
			filled += part[k].value ? sl_pack_filled_bytes(&part[k]) : 0;
		}
		const struct sl_shape shape = {
			.part = input, .n_parts = end - from, .level = LEVEL};

		assert_in_range(sl_scratch(d->pack.backend, &shape), 1, p->scratch.size);
		assert_in_range(filled, 0, p->filled_bytes);
	}
	return jobs;
}

void pack_check_jobs(uint32_t most)
{
	for (int model = 0; model < TEST_MODELS; model++)
		for (int i = 0; i < N_OUTPUTS; i += N_OUTPUTS - 1) { /* columns */
			struct sl_recipe d = test_recipe((enum sl_model_number)model, most);
			struct sl_arena device = {0}, pinned = {0};
			struct sl_pack p;

			set_pack_rule(&d, &outputs[i]);
			d.pack.packing.chunk_bytes = (size_t)1 << 20;
			sl_pack_lay_out(&device, &pinned, &d, most, &p);
			for (uint32_t k = 0; k <= 64; k++)
				check_jobs(&d, &p, (uint32_t)((uint64_t)most * k / 64));
			assert_int_equal(check_jobs(&d, &p, 1), 1);
		}
}
