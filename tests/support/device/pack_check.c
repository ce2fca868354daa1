/* pack_check.c - see pack_check.h. */
#include "pack_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/host/host.h"
#include "stages/models/models.h"
#include "stages/particle/digest.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/formats/tables.h"

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
_Static_assert(sizeof(outputs) / sizeof(outputs[0]) == PACKINGS, "see pack_check.h");

/* MCPL records with one energy for all particles, and with ids as user flags. */
static const struct sl_mcpl_facts record_facts = {.pdg = 22, .energy = 2e-3, .flags = SL_COLUMN_id};

void set_packing(struct sl_recipe *d, int k)
{
	const struct output *output = &outputs[k];
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

bool can_pack(const struct sl_recipe *r, int k)
{
	sl_column_set columns = 0;

	for (uint32_t i = 0; i < r->n_columns; i++)
		columns |= SL_BIT(r->column[i]);
	return !outputs[k].packing.records || (columns & (SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_id))) ==
	                                              (SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_id));
}

uint8_t *records_of_host(const struct sl_table *t, const struct sl_mcpl_facts *facts, size_t *bytes)
{
	struct sl_file_facts run = {.run_name = NULL};
	struct sl_exec x = {.space = SL_HOST};
	struct sl_arena a = {0};
	struct sl_packed p;
	uint8_t *records;

	run.mcpl = *facts;
	sl_format_lay_out(&sl_format_mcpl, &a, t, &run, &p);
	a = arena_of(a.used);
	sl_format_lay_out(&sl_format_mcpl, &a, t, &run, &p);
	assert_ok(sl_format_pack(&sl_format_mcpl, &x, &run, t, NULL, &p));
	*bytes = p.used;
	records = (uint8_t *)malloc(p.used + 1);
	assert_non_null(records);
	memcpy(records, p.bytes, p.used);
	free(a.base);
	return records;
}

/* --- what was packed -------------------------------------------------------------------------- */

/* The streams that were received, in order. */
struct received {
	const struct sl_device_packed *p;
	enum sl_wrapper wrapper;
	size_t k, used; /* streams and bytes that were checked */
};

/* The next stream inflates to these bytes. */
static void check_stream(struct received *s, const uint8_t *expected, size_t bytes)
{
	uint8_t *found = (uint8_t *)malloc(bytes);
	const size_t size = s->p->stream[s->k++];

	assert_non_null(found);
	assert_ok(sl_inflate_whole(s->wrapper, s->p->bytes + s->used, size, found, bytes));
	assert_memory_equal(found, expected, bytes);
	s->used += size;
	free(found);
}

/* The chunks of a column are shuffled in byte planes; zeros pad the last chunk. */
static void check_column(struct received *s, const struct sl_table_column *c, uint32_t n)
{
	uint32_t item = sl_column_facts[c->column].bytes, items = CHUNK / item;

	items = n < items ? n : items;
	for (uint32_t first = 0; first < n; first += items) {
		uint8_t chunk[CHUNK] = {0};

		for (uint32_t i = 0; i < items && first + i < n; i++)
			for (uint32_t b = 0; b < item; b++)
				chunk[b * items + i] =
					((const uint8_t *)c->data)[(size_t)(first + i) * item + b];
		check_stream(s, chunk, (size_t)items * item);
	}
}

/* The column is one gzip member, not shuffled; a constant column has its value in every row. */
static void check_whole_column(struct received *s, const struct sl_table_column *c, size_t n)
{
	size_t item = sl_column_facts[c->column].bytes;
	uint8_t *items = (uint8_t *)malloc(n * item);

	assert_non_null(items);
	for (size_t i = 0; i < n; i++)
		memcpy(items + i * item, (const char *)c->data + (c->constant ? 0 : i * item),
			item);
	check_stream(s, items, n * item);
	free(items);
}

static void check_box(const struct sl_table_column *c, size_t n, const struct sl_device_packed *p)
{
	int axis = (int)c->column - (int)SL_COLUMN_x;
	float lo = INFINITY, hi = -INFINITY;

	if (axis < 0 || axis > 2)
		return;
	for (size_t i = 0; i < n; i++) {
		lo = fminf(lo, ((const float *)c->data)[i]);
		hi = fmaxf(hi, ((const float *)c->data)[i]);
	}
	assert_true(p->lo[axis] == lo && p->hi[axis] == hi);
}

static void check_columns(struct received *s, const struct sl_batch *host, bool planes)
{
	for (uint32_t k = 0; k < host->table.n_columns; k++) {
		const struct sl_table_column *c = &host->table.column[k];

		if (planes && !c->constant)
			check_column(s, c, host->n_survivors);
		if (!planes && host->n_survivors > 0)
			check_whole_column(s, c, host->n_survivors);
		if (!c->constant)
			check_box(c, host->table.n, s->p);
	}
}

/* Records are not compressed, or are in gzip members of at most CHUNK bytes each. */
static void check_records(
	struct received *s, const struct sl_batch *host, const struct sl_pack_rule *rule)
{
	size_t most = CHUNK / rule->record.bytes * rule->record.bytes, bytes;
	uint8_t *records = records_of_host(&host->table, &record_facts, &bytes);

	if (rule->form == SL_AS_RECORDS)
		assert_memory_equal(s->p->bytes, records, s->used = bytes);
	for (size_t at = 0; rule->form == SL_AS_STREAMS && at < bytes; at += most)
		check_stream(s, records + at, bytes - at < most ? bytes - at : most);
	free(records);
}

/* Exactly the unpacked columns of the recipe are received. */
static void check_unpacked_columns(const struct sl_recipe *d, const struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant)
			assert_int_equal(t->column[k].data != NULL,
				SL_HAS(d->unpacked, t->column[k].column));
}

void check_packed(
	const struct sl_recipe *d, const struct sl_batch *host, const struct sl_batch *received)
{
	const struct sl_device_packing *packing = &d->pack.packing;
	struct sl_device_packed packed = received->device_packed;
	struct received s = {.p = &packed, .wrapper = packing->wrapper};

	if (packing->records)
		check_records(&s, host, &d->pack);
	else
		check_columns(&s, host, packing->planes);
	assert_int_equal(s.used, packed.used);
	assert_ok(sl_device_packed_check(&packed));
	assert_true(packed.has_crc);
	assert_int_equal(packed.crc, sl_crc32(packed.bytes, packed.used));
	check_unpacked_columns(d, &received->table);
}

/* --- jobs ------------------------------------------------------------------------------------- */

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
		for (int i = 0; i < PACKINGS; i += PACKINGS - 1) { /* columns */
			struct sl_recipe d = test_recipe((enum sl_model_number)model, most);
			struct sl_arena device = {0}, pinned = {0};
			struct sl_pack p;

			set_packing(&d, i);
			d.pack.packing.chunk_bytes = (size_t)1 << 20;
			sl_pack_lay_out(&device, &pinned, &d, most, &p);
			for (uint32_t k = 0; k <= 64; k++)
				check_jobs(&d, &p, (uint32_t)((uint64_t)most * k / 64));
			assert_int_equal(check_jobs(&d, &p, 1), 1);
		}
}
