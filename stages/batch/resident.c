/* resident.c - see resident.h. */
#include "stages/batch/resident.h"

#include <string.h>

static size_t column_bytes(enum sl_column column, uint32_t n)
{
	return (size_t)n * sl_column_facts[column].bytes;
}

/* Cuts columns 0 to k of a table of n rows; returns the last one. */
static void *cut_columns(struct sl_arena *a, const struct sl_table *t, uint32_t k, uint32_t n)
{
	void *at = NULL;

	for (uint32_t i = 0; i <= k; i++)
		at = sl_cut(a, column_bytes(t->column[i].column, n));
	return at;
}

void *sl_resident_column(const struct sl_batch *b, uint32_t k)
{
	struct sl_arena a = {.base = b->resident->data, .size = b->resident->bytes};

	return cut_columns(&a, &b->table, k, b->n_survivors);
}

void sl_resident_lay_out(
	struct sl_arena *device, const struct sl_recipe *r, uint32_t n, struct sl_resident *shared)
{
	memset(shared, 0, sizeof(*shared));
	for (uint32_t k = 0; k < r->n_columns; k++)
		if (SL_HAS(r->constants, r->column[k]))
			shared->one_value[k] = sl_cut(device, column_bytes(r->column[k], n));
}

/* Writes n items of one value: the first one from the host, then twice as many with each copy. */
static enum sl_status repeat(char *to, const void *value, size_t item, size_t n, sl_stream s)
{
	if (n == 0)
		return SL_OK;
	SL_TRY(sl_copy(to, value, item, s));
	for (size_t done = 1; done < n; done *= 2)
		SL_TRY(sl_copy(
			to + done * item, to, (n - done < done ? n - done : done) * item, s));
	return SL_OK;
}

/* The columns of one value, with the items of a full batch; once for each pipeline. */
static enum sl_status make_one_value(const struct sl_recipe *r, struct sl_resident *shared,
	const struct sl_table *t, sl_stream s)
{
	uint32_t most = r->particles < r->batch ? (uint32_t)r->particles : r->batch;

	for (uint32_t k = 0; k < t->n_columns && !shared->made; k++)
		if (shared->one_value[k])
			SL_TRY(repeat((char *)shared->one_value[k], t->column[k].data,
				sl_column_facts[t->column[k].column].bytes, most, s));
	shared->made = true;
	return SL_OK;
}

enum sl_status sl_resident_begin(const struct sl_recipe *r, struct sl_resident *shared,
	struct sl_batch *b, struct sl_table *t, sl_stream s)
{
	struct sl_arena measure = {0};

	if (b->table.n_columns > 0)
		(void)cut_columns(&measure, &b->table, b->table.n_columns - 1, b->n_survivors);
	sl_block_give(b->resident);
	b->resident = NULL;
	SL_TRY(make_one_value(r, shared, &b->table, s));
	SL_TRY(sl_block_take(measure.used, s, &b->resident));
	for (uint32_t k = 0; k < t->n_columns; k++) {
		void *to = sl_resident_column(b, k);

		if (!shared->one_value[k])
			t->column[k].data = to;
		else
			SL_TRY(sl_copy(to, shared->one_value[k],
				column_bytes(t->column[k].column, b->n_survivors), s));
	}
	return SL_OK;
}
