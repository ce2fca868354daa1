/* pack.c - the parts of a packed table, and its memory on device and host. */
#include "stages/device/pack.h"

#include <string.h>

#include "stages/host/host.h"

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
		const void *at = c->constant ? NULL : c->data; /* a constant is filled later */

		if (c->internal || (c->constant && !rule->packing.constants))
			continue;
		part[n] = part_of(rule, at, t->n, f->bytes, sl_table_name(t, k));
		part[n++].value = c->constant ? c->data : NULL;
	}
	return n;
}

/* Bytes that the constant columns among n parts are filled to, each in whole 64-bit words. */
static size_t filled_bytes(const struct sl_pack_part *part, uint32_t n)
{
	size_t bytes = 0;

	for (uint32_t k = 0; k < n; k++)
		if (part[k].value)
			bytes = sl_size_add(bytes, sl_pack_filled_bytes(&part[k]));
	return bytes;
}

/* Scratch to compress n parts in one job. */
static size_t job_scratch(
	const struct sl_pack_rule *rule, const struct sl_pack_part *part, uint32_t n)
{
	struct sl_deflate_part input[SL_DEFLATE_PARTS_MAX];
	const struct sl_shape shape = {.part = input, .n_parts = n, .level = rule->level};

	if (!rule->backend)
		return 0;
	for (uint32_t k = 0; k < n; k++)
		input[k] = sl_pack_input(&part[k]);
	return sl_scratch(rule->backend, &shape);
}

/*
 * Scratch is laid out for full tables. The jobs of a table with fewer rows have more parts, so
 * their sum is tested.
 */
uint32_t sl_pack_job_end(const struct sl_pack_rule *rule, const struct sl_pack *p,
	const struct sl_pack_part *part, uint32_t from, uint32_t n)
{
	const size_t enough = (size_t)64 << 20;
	size_t bytes = part[from].bytes;
	uint32_t parts = 1;

	while (from + parts < n && parts < SL_DEFLATE_PARTS_MAX && bytes < enough) {
		if (p && (job_scratch(rule, part + from, parts + 1) > p->scratch.size ||
				 filled_bytes(part + from, parts + 1) > p->filled_bytes))
			break;
		bytes += part[from + parts++].bytes;
	}
	return from + parts;
}

/* What the parts of a table need; filled and scratch are those of the job that needs most. */
struct pack_sizes {
	size_t streams, bytes; /* of all parts; bytes is an upper bound */
	size_t scratch, filled;
};

/* Adds up the parts of a table. scratch and streams are 0 if nothing is compressed. */
static struct pack_sizes measure(const struct sl_pack_rule *rule, const struct sl_table *t)
{
	const bool compresses = rule->form == SL_AS_STREAMS;
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = sl_pack_parts(rule, t, NULL, part), end;
	struct pack_sizes all = {0};

	for (uint32_t k = 0; k < parts; k++) {
		const struct sl_pack_part *p = &part[k];

		all.streams += compresses ? sl_deflate_streams(p->bytes, p->chunk_bytes) : 0;
		all.bytes = sl_size_add(all.bytes,
			compresses ? sl_deflate_most(p->bytes, p->chunk_bytes, p->item_bytes)
				   : p->bytes);
	}
	for (uint32_t k = 0; compresses && k < parts; k = end) {
		size_t scratch, filled;

		end = sl_pack_job_end(rule, NULL, part, k, parts);
		scratch = job_scratch(rule, part + k, end - k);
		filled = filled_bytes(part + k, end - k);
		all.scratch = scratch > all.scratch ? scratch : all.scratch;
		all.filled = filled > all.filled ? filled : all.filled;
	}
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
		p->filled_bytes = sizes.filled;
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

	*p = (struct sl_device_packed){.most = sizes.bytes, .size = p->size, .bytes = p->bytes};
	p->stream = (size_t *)sl_cut_items(pinned, sizes.streams, sizeof(*p->stream));
}

/* An eighth more than this batch needs, so that the next ones fit too. */
enum sl_status sl_device_packed_reserve(struct sl_device_packed *p, size_t bytes)
{
	size_t size = bytes + bytes / 8 + 1;
	void *memory;

	if (p->bytes && bytes <= p->size)
		return SL_OK;
	sl_memory_give(SL_PINNED, p->bytes);
	p->bytes = NULL;
	p->size = 0;
	size = size < p->most ? size : p->most;
	SL_TRY(sl_memory_get(SL_PINNED, size, &memory));
	p->bytes = (uint8_t *)memory;
	p->size = size;
	return SL_OK;
}
