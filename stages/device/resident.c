/*
 * resident.c - survivors that stay on the device: each batch has a block for its columns.
 *
 * The block is taken when the number of survivors is known, and the last stage writes the columns to
 * it. So nothing is copied but the columns of one value, which no stage writes: those are made once
 * with the items of a whole batch, and copied on the device.
 *
 *	block   | column | column | ... each n_survivors items, aligned to SL_ALIGN
 */
#include "stages/device/device_pipeline.h"

static size_t column_bytes(const struct sl_table *t, uint32_t k, uint32_t n)
{
	return (size_t)n * sl_column_facts[t->column[k].column].bytes;
}

/* Cuts columns 0 to k of a table of n rows; returns the last one. */
static void *cut_columns(struct sl_arena *a, const struct sl_table *t, uint32_t k, uint32_t n)
{
	void *at = NULL;

	for (uint32_t i = 0; i <= k; i++)
		at = sl_cut(a, column_bytes(t, i, n));
	return at;
}

void *sl_resident_column(const struct sl_batch *b, uint32_t k)
{
	struct sl_arena a = {.base = b->resident->data, .size = b->resident->bytes};

	return cut_columns(&a, &b->table, k, b->n_survivors);
}

void sl_resident_lay_out(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
	struct sl_device_pipeline *pipeline)
{
	struct sl_arena none = {0};

	sl_table_lay_out(&none, r, n, 0, &pipeline->one_value);
	for (uint32_t k = 0; k < pipeline->one_value.n_columns; k++)
		if (pipeline->one_value.column[k].constant)
			pipeline->one_value.column[k].data =
				sl_cut(device, column_bytes(&pipeline->one_value, k, n));
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
static enum sl_status make_one_value(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, const struct sl_table *t)
{
	uint32_t most = r->particles < r->batch ? (uint32_t)r->particles : r->batch;

	for (uint32_t k = 0; k < t->n_columns && !pipeline->has_one_value; k++)
		if (t->column[k].constant)
			SL_TRY(repeat((char *)pipeline->one_value.column[k].data, t->column[k].data,
				sl_column_facts[t->column[k].column].bytes, most,
				pipeline->exec.stream));
	pipeline->has_one_value = true;
	return SL_OK;
}

enum sl_status sl_resident_begin(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	struct sl_arena measure = {0};
	struct sl_table *t = &pipeline->batch.table;

	if (b->table.n_columns > 0)
		(void)cut_columns(&measure, &b->table, b->table.n_columns - 1, b->n_survivors);
	sl_block_give(b->resident);
	b->resident = NULL;
	SL_TRY(make_one_value(r, pipeline, &b->table));
	SL_TRY(sl_block_take(measure.used, pipeline->exec.stream, &b->resident));
	for (uint32_t k = 0; k < t->n_columns; k++) {
		void *to = sl_resident_column(b, k);

		if (!b->table.column[k].constant)
			t->column[k].data = to;
		else
			SL_TRY(sl_copy(to, pipeline->one_value.column[k].data,
				column_bytes(t, k, b->n_survivors), pipeline->exec.stream));
	}
	return SL_OK;
}
