/* pack.c - the parts of a packed table, and its memory on device and host. */
#include "stages/device/pack.h"

#include <string.h>

#include "stages/host/host_pipeline.h"

/* The part of n rows of row_bytes each. */
static struct sl_pack_part part_of(const struct sl_pack_rule *rule, const void *at, uint32_t n,
	uint32_t row_bytes, const char *name)
{
	uint32_t items = n ? sl_chunk_items(n, row_bytes, rule->packing.chunk_bytes) : 0;

	return (struct sl_pack_part){.at = at,
		.bytes = (size_t)n * row_bytes,
		.chunk_bytes = (size_t)items * row_bytes,
		.item_bytes = rule->packing.planes ? row_bytes : 1,
		.name = name};
}

uint32_t sl_pack_parts(const struct sl_pack_rule *rule, const struct sl_table *t,
	const struct sl_pack *p, struct sl_pack_part part[SL_COLUMN_COUNT])
{
	uint32_t n = 0;

	if (t->n == 0)
		return 0;
	if (rule->packing.records) {
		part[0] = part_of(rule, p ? p->records : NULL, t->n, rule->record.bytes, "records");
		return 1;
	}
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *f = &sl_column_facts[c->column];
		const void *at = c->constant && p ? p->filled : c->data;

		if (c->constant && !rule->packing.constants)
			continue;
		part[n] = part_of(rule, at, t->n, f->bytes, f->name);
		part[n++].value = c->constant ? c->data : NULL;
	}
	return n;
}

size_t sl_pack_streams(const struct sl_pack_rule *rule, const struct sl_table *t)
{
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = rule->form == SL_AS_STREAMS ? sl_pack_parts(rule, t, NULL, part) : 0;
	size_t streams = 0;

	for (uint32_t k = 0; k < parts; k++)
		streams += sl_deflate_streams(part[k].bytes, part[k].chunk_bytes);
	return streams;
}

size_t sl_pack_most(const struct sl_pack_rule *rule, const struct sl_table *t)
{
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = sl_pack_parts(rule, t, NULL, part);
	size_t bytes = 0;

	for (uint32_t k = 0; k < parts; k++)
		bytes = sl_size_add(
			bytes, rule->form == SL_AS_STREAMS
				       ? sl_deflate_most(part[k].bytes, part[k].chunk_bytes,
						 part[k].item_bytes)
				       : part[k].bytes);
	return bytes;
}

/*
 * Sets the sizes that the parts share, because they are compressed one after another: the scratch of
 * the compressor, and the memory for the longest constant column, in whole 64-bit words.
 */
static void measure_shared(
	const struct sl_pack_rule *rule, const struct sl_table *t, size_t *scratch, size_t *filled)
{
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = sl_pack_parts(rule, t, NULL, part);

	*scratch = *filled = 0;
	for (uint32_t k = 0; k < parts; k++) {
		struct sl_shape s = {.in_bytes = part[k].bytes,
			.chunk_bytes = part[k].chunk_bytes,
			.item_bytes = part[k].item_bytes};
		size_t bytes = sl_scratch(rule->backend, &s);

		*scratch = bytes > *scratch ? bytes : *scratch;
		if (part[k].value && part[k].bytes > *filled)
			*filled = part[k].bytes;
	}
	*filled = sl_round_up(*filled, sizeof(uint64_t));
}

/* A table of n rows without memory. */
static struct sl_table table_of(const struct sl_recipe *r, uint32_t n)
{
	struct sl_arena none = {0};
	struct sl_table t;

	sl_table_lay_out(&none, r, n, 0, &t);
	t.n = n;
	return t;
}

void sl_pack_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_pack *p)
{
	const struct sl_pack_rule *rule = &r->pack;
	struct sl_table most = table_of(r, n);
	size_t filled;

	memset(p, 0, sizeof(*p));
	p->out_size = sl_pack_most(rule, &most);
	if (rule->packing.records)
		p->records = (uint32_t *)sl_cut_items(device, n, rule->record.bytes);
	p->out = (uint8_t *)p->records;
	if (rule->form == SL_AS_STREAMS) {
		measure_shared(rule, &most, &p->scratch.size, &filled);
		p->filled = (uint64_t *)sl_cut(device, filled);
		p->out = (uint8_t *)sl_cut(device, p->out_size);
		p->scratch.base = sl_cut(device, p->scratch.size);
	}
	p->size_header_bytes =
		sizeof(*p->size_header) + sl_pack_streams(rule, &most) * sizeof(size_t);
	p->size_header = (struct sl_pack_size_header *)sl_cut(device, p->size_header_bytes);
	for (int i = 0; i < 2; i++)
		p->host_size_header[i] =
			(struct sl_pack_size_header *)sl_cut(pinned, p->size_header_bytes);
}

void sl_device_packed_lay_out(
	struct sl_arena *pinned, const struct sl_recipe *r, uint32_t n, struct sl_device_packed *p)
{
	struct sl_table most = table_of(r, n);

	memset(p, 0, sizeof(*p));
	p->size = sl_pack_most(&r->pack, &most);
	p->bytes = (uint8_t *)sl_cut(pinned, p->size);
	p->stream = (size_t *)sl_cut_items(
		pinned, sl_pack_streams(&r->pack, &most), sizeof(*p->stream));
}
