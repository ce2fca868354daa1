/* press.c - the memory that columns are compressed in, on a device and at home. */
#include "stages/press.h"

#include <string.h>

#include "stages/stages.h"

static uint32_t bytes_of(const struct sl_table_column *c)
{
	return sl_column_facts[c->column].bytes;
}

size_t sl_press_streams(const struct sl_table *t, size_t chunk_bytes)
{
	size_t n = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant)
			n += sl_chunks(t->n, bytes_of(&t->column[k]), chunk_bytes);
	return n;
}

/* Of a column of n > 0 rows: what deflate is to compress. */
static struct sl_shape shape_of(const struct sl_table_column *c, uint32_t n, size_t chunk_bytes)
{
	uint32_t item = bytes_of(c);

	return (struct sl_shape){.in_bytes = (size_t)n * item,
		.chunk_bytes = (size_t)sl_chunk_items(n, item, chunk_bytes) * item,
		.item_bytes = item};
}

size_t sl_press_most(const struct sl_table *t, size_t chunk_bytes)
{
	size_t bytes = 0;

	for (uint32_t k = 0; t->n > 0 && k < t->n_columns; k++) {
		struct sl_shape s = shape_of(&t->column[k], t->n, chunk_bytes);

		if (!t->column[k].constant)
			bytes = sl_size_add(
				bytes, sl_deflate_most(s.in_bytes, s.chunk_bytes, s.item_bytes));
	}
	return bytes;
}

static size_t scratch_most(const struct sl_table *t, const struct sl_press_rule *rule)
{
	size_t most = 0;

	for (uint32_t k = 0; t->n > 0 && k < t->n_columns; k++) {
		struct sl_shape s = shape_of(&t->column[k], t->n, rule->chunk_bytes);
		size_t bytes = t->column[k].constant ? 0 : sl_scratch(rule->backend, &s);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* The table of n rows, without their memory. */
static struct sl_table table_of(const struct sl_recipe *r, uint32_t n)
{
	struct sl_arena none = {0};
	struct sl_table t;

	sl_table_lay_out(&none, r, n, 0, &t);
	t.n = n;
	return t;
}

void sl_press_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_press *p)
{
	struct sl_table most = table_of(r, n);
	size_t streams = sl_press_streams(&most, r->press.chunk_bytes);

	memset(p, 0, sizeof(*p));
	p->out_size = sl_press_most(&most, r->press.chunk_bytes);
	p->out = (uint8_t *)sl_cut(device, p->out_size);
	p->sheet_bytes = sizeof(*p->sheet) + streams * sizeof(size_t);
	p->sheet = (struct sl_press_sheet *)sl_cut(device, p->sheet_bytes);
	p->scratch.size = scratch_most(&most, &r->press);
	p->scratch.base = sl_cut(device, p->scratch.size);
	for (int i = 0; i < 2; i++)
		p->seen[i] = (struct sl_press_sheet *)sl_cut(pinned, p->sheet_bytes);
}

void sl_pressed_lay_out(
	struct sl_arena *pinned, const struct sl_recipe *r, uint32_t n, struct sl_pressed *p)
{
	struct sl_table most = table_of(r, n);

	memset(p, 0, sizeof(*p));
	p->size = sl_press_most(&most, r->press.chunk_bytes);
	p->bytes = (uint8_t *)sl_cut(pinned, p->size);
	p->stream = (size_t *)sl_cut_items(
		pinned, sl_press_streams(&most, r->press.chunk_bytes), sizeof(*p->stream));
}
