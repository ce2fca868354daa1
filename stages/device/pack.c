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

/* A part of a table without rows has no stream: the host packs such tables. */
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

/*
 * What the parts of a table need. They are compressed one after another, so scratch and filled, the
 * memory for the longest constant column in whole 64-bit words, are those of the largest part.
 */
struct pack_sizes {
	size_t streams, bytes; /* of all parts; bytes is an upper bound */
	size_t scratch, filled;
};

/* Adds up the parts of a table. scratch and streams are 0 if nothing is compressed. */
static struct pack_sizes measure(const struct sl_pack_rule *rule, const struct sl_table *t)
{
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = sl_pack_parts(rule, t, NULL, part);
	struct pack_sizes all = {0};

	for (uint32_t k = 0; k < parts; k++) {
		struct sl_shape s = {.in_bytes = part[k].bytes,
			.chunk_bytes = part[k].chunk_bytes,
			.item_bytes = part[k].item_bytes};
		size_t bytes = part[k].bytes, scratch = 0;

		if (rule->form == SL_AS_STREAMS) {
			bytes = sl_deflate_most(s.in_bytes, s.chunk_bytes, s.item_bytes);
			all.streams += sl_deflate_streams(s.in_bytes, s.chunk_bytes);
			scratch = rule->backend ? sl_scratch(rule->backend, &s) : 0;
		}
		all.bytes = sl_size_add(all.bytes, bytes);
		all.scratch = scratch > all.scratch ? scratch : all.scratch;
		if (part[k].value && part[k].bytes > all.filled)
			all.filled = part[k].bytes;
	}
	all.filled = sl_round_up(all.filled, sizeof(uint64_t));
	return all;
}

size_t sl_pack_streams(const struct sl_pack_rule *rule, const struct sl_table *t)
{
	return measure(rule, t).streams;
}

size_t sl_pack_most(const struct sl_pack_rule *rule, const struct sl_table *t)
{
	return measure(rule, t).bytes;
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

/* Records that are not compressed are copied as they are: then out is their memory. */
void sl_pack_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_pack *p)
{
	const struct sl_pack_rule *rule = &r->pack;
	struct sl_table most = table_of(r, n);
	struct pack_sizes sizes = measure(rule, &most);

	memset(p, 0, sizeof(*p));
	p->out_size = sizes.bytes;
	if (rule->packing.records)
		p->records = (uint32_t *)sl_cut_items(device, n, rule->record.bytes);
	p->out = (uint8_t *)p->records;
	if (rule->form == SL_AS_STREAMS) {
		p->scratch.size = sizes.scratch;
		p->filled = (uint64_t *)sl_cut(device, sizes.filled);
		p->out = (uint8_t *)sl_cut(device, p->out_size);
		p->scratch.base = sl_cut(device, p->scratch.size);
	}
	p->size_header_bytes = sizeof(*p->size_header) + sizes.streams * sizeof(size_t);
	p->size_header = (struct sl_pack_size_header *)sl_cut(device, p->size_header_bytes);
	for (int i = 0; i < 2; i++)
		p->host_size_header[i] =
			(struct sl_pack_size_header *)sl_cut(pinned, p->size_header_bytes);
}

void sl_device_packed_lay_out(
	struct sl_arena *pinned, const struct sl_recipe *r, uint32_t n, struct sl_device_packed *p)
{
	struct sl_table most = table_of(r, n);
	struct pack_sizes sizes = measure(&r->pack, &most);

	*p = (struct sl_device_packed){
		.size = sizes.bytes, .bytes = (uint8_t *)sl_cut(pinned, sizes.bytes)};
	p->stream = (size_t *)sl_cut_items(pinned, sizes.streams, sizeof(*p->stream));
}
