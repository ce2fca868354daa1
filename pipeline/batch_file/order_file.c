/*
 * order_file.c - see batch_file.h. Items are made in a small buffer, so a batch of any size needs
 * no memory.
 */
#include "pipeline/batch_file/batch_file.h"

#include <math.h>
#include <string.h>

#include "primitives/files/files.h"
#include "stages/particle/random.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are written as they are in memory, with the least significant byte first"
#endif

/*
 * The block of random words that decides on the sample. No rule draws so many words of a particle.
 */
#define SAMPLE_BLOCK UINT64_MAX

enum { BUFFER_ITEMS = 1 << 10 };

double sl_sample_priority(uint64_t seed, uint64_t id, float weight)
{
	struct sl_words random = sl_draw(seed, id, SAMPLE_BLOCK);
	uint64_t word = (uint64_t)random.at[0] << 32 | random.at[1];
	/* an odd multiple of 2^-53 below 1: never 0, and exact in a double */
	double u = (double)(word >> 12 << 1 | 1) * 0x1p-53;

	return fabsf(weight) > 0.0f ? fabs((double)weight) / u : 0;
}

/* Sets a column of p to the value of row i of the table; a constant column is set already. */
static void load(const struct sl_table *t, enum sl_column column, uint32_t i, struct sl_particle *p)
{
	const struct sl_table_column *c = sl_table_find(t, column);
	const struct sl_column_facts *f = &sl_column_facts[column];

	if (c && !c->constant)
		memcpy((char *)p + f->in_particle, (const char *)c->data + (size_t)i * f->bytes,
			f->bytes);
}

/* Writes the item of row i to `to`; returns the word after it. */
static uint64_t *put_item(const struct sl_plan *plan, const struct sl_order_items *items,
	const struct sl_table *t, uint32_t i, uint64_t *to)
{
	const struct sl_recipe *r = &plan->recipe;
	struct sl_particle p = r->constant;
	struct sl_columns columns = sl_columns_of(&p);
	double priority;

	if (items->key) {
		for (uint32_t k = 0; k < r->n_fields; k++)
			load(t, r->field[k].column, i, &p);
		*to++ = sl_key_pack(r->field, r->n_fields, &columns, 0, p.id);
	}
	if (items->priority) {
		load(t, SL_COLUMN_id, i, &p);
		load(t, SL_COLUMN_weight, i, &p);
		priority = sl_sample_priority(r->seed, p.id, p.weight);
		memcpy(to++, &priority, sizeof(priority));
	}
	return to;
}

enum sl_status sl_order_file_put(const struct sl_plan *plan, const struct sl_batch *b,
	struct sl_file_writer *w, struct sl_committed_file *file)
{
	const struct sl_order_items items = sl_plan_order_items(plan);
	uint64_t buffer[2 * BUFFER_ITEMS];

	file->bytes = file->crc = 0;
	for (uint32_t from = 0, n; from < b->table.n; from += n) {
		uint64_t *to = buffer;
		size_t used;

		n = b->table.n - from < BUFFER_ITEMS ? b->table.n - from : (uint32_t)BUFFER_ITEMS;
		for (uint32_t i = from; i < from + n; i++)
			to = put_item(plan, &items, &b->table, i, to);
		used = (size_t)(to - buffer) * sizeof(*to);
		file->crc = sl_crc32_update(file->crc, buffer, used);
		file->bytes += used;
		if (w)
			SL_TRY(sl_file_add(w, buffer, used));
	}
	return SL_OK;
}
