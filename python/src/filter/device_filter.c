/*
 * device_filter.c - see filter.h.
 *
 * Columns that the condition or the key reads are used where they are, if they have the type of the
 * column and no gaps; else they are converted to memory of the call:
 *
 *	| converted columns | derived columns | numbers | flags | index | count | wrong | keys | scratch |
 */
#include "python/src/filter/filter.h"

#include <string.h>

#include "primitives/primitives.h"
#include "python/src/arrays/arrays.h"
#include "stages/device/kernels.h"

/* The number of host memory that a column is, or its first item, in a number of 8 bytes. */
enum { NUMBER_BYTES = 8 };

struct device_filter {
	const struct sl_py_device_table *t;
	const struct sl_py_selection *selection;
	const struct sl_choices *choices; /* of the selection */
	const struct sl_kernels *kernels;
	const struct sl_backend *compact, *sort;
	sl_column_set converted;
	struct sl_columns columns;
	char *number; /* NUMBER_BYTES for each column */
	uint8_t *flag;
	uint32_t *index, *count, *wrong; /* wrong: for each column */
	void *key;
	struct sl_exec exec;
};

/* --- memory ----------------------------------------------------------------------------------- */

/* Cuts all memory; called twice, first to measure. */
static void lay_out(struct device_filter *f, struct sl_arena *a)
{
	const uint32_t n = f->t->table.n;
	struct sl_shape shape = {.n = n, .type = sl_py_key_type(f->selection)};
	size_t compact = sl_scratch(f->compact, &shape), sort = sl_scratch(f->sort, &shape);

	f->converted = sl_py_table_columns(&f->t->table, f->selection, a, &f->columns);
	f->number = (char *)sl_cut(a, (size_t)SL_COLUMN_COUNT * NUMBER_BYTES);
	f->flag = (uint8_t *)sl_cut(a, n);
	f->index = (uint32_t *)sl_cut_items(a, n, sizeof(*f->index));
	f->count = (uint32_t *)sl_cut(a, sizeof(*f->count));
	f->wrong = (uint32_t *)sl_cut_items(a, SL_COLUMN_COUNT, sizeof(*f->wrong));
	f->key = sl_cut_items(a, f->choices->n_fields > 0 ? n : 0, sl_type_bytes(shape.type));
	f->exec.scratch.size = compact > sort ? compact : sort;
	f->exec.scratch.base = sl_cut(a, f->exec.scratch.size);
}

/* --- the condition ---------------------------------------------------------------------------- */

/* The array of a column; a number of the host is copied to the device first. */
static enum sl_status items_of(const struct device_filter *f, int column, struct sl_items *items)
{
	const struct sl_py_array *a = &f->t->table.column[column];

	*items = (struct sl_items){.data = a->data,
		.stride = a->constant ? 0 : a->stride,
		.n = f->t->table.n,
		.bytes = a->bytes,
		.kind = a->kind};
	if (!a->constant || f->t->in[column].at.device_type == SL_PY_DLPACK_CUDA)
		return SL_OK;
	items->data = f->number + (size_t)column * NUMBER_BYTES;
	return sl_copy((void *)(uintptr_t)items->data, a->data, a->bytes, f->exec.stream);
}

static enum sl_status convert(struct device_filter *f)
{
	struct sl_items items;

	SL_TRY(sl_fill(f->wrong, 0xff, SL_COLUMN_COUNT * sizeof(*f->wrong), f->exec.stream));
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		if (!SL_HAS(f->converted, c))
			continue;
		SL_TRY(items_of(f, c, &items));
		SL_TRY(f->kernels->convert(&items, (enum sl_column)c,
			sl_least_whole((enum sl_column)c), sl_py_most_whole(c),
			sl_py_column_item(&f->columns, c, 0), &f->wrong[c], f->exec.stream));
	}
	return SL_OK;
}

/* Fails if a column has an item that it cannot hold; the first one is copied for the message. */
static enum sl_status check(const struct device_filter *f, const uint32_t wrong[SL_COLUMN_COUNT])
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		struct sl_py_array one = f->t->table.column[c];
		struct sl_items items;
		double value, item;

		if (wrong[c] == UINT32_MAX)
			continue;
		SL_TRY(items_of(f, c, &items));
		SL_TRY(sl_copy(&item, (const char *)items.data + wrong[c] * items.stride,
			items.bytes, f->exec.stream));
		SL_TRY(sl_stream_wait(f->exec.stream));
		one.data = &item;
		sl_py_load_real(&one, 0, 1, &value);
		return sl_py_table_refuse(c, wrong[c], value);
	}
	return SL_OK;
}

/* Sets the indices of the particles that meet the condition, and waits for their number. */
static enum sl_status keep(struct device_filter *f, uint32_t *n_kept)
{
	const struct sl_choices *k = f->choices;
	struct sl_compact_job job = {
		.keep = f->flag, .out = f->index, .n_out = f->count, .n = f->t->table.n};
	uint32_t wrong[SL_COLUMN_COUNT];

	SL_TRY(convert(f));
	if (k->derivation.n > 0)
		SL_TRY(f->kernels->derive(
			&k->derivation, &f->columns, NULL, job.n, f->exec.stream));
	SL_TRY(f->kernels->list_filter(
		&k->condition, k->keep, &f->columns, job.n, f->flag, f->exec.stream));
	SL_TRY(sl_compact(f->compact, &f->exec, &job));
	SL_TRY(sl_copy(n_kept, f->count, sizeof(*n_kept), f->exec.stream));
	SL_TRY(sl_copy(wrong, f->wrong, sizeof(wrong), f->exec.stream));
	SL_TRY(sl_stream_wait(f->exec.stream));
	return check(f, wrong);
}

/* --- the order and the result ----------------------------------------------------------------- */

static enum sl_status order(struct device_filter *f, uint32_t n)
{
	struct sl_sort_job job = {.key = f->key,
		.index = f->index,
		.key_spent = true,
		.n = n,
		.type = sl_py_key_type(f->selection),
		.end_bit = f->choices->key_bits};

	SL_TRY(f->kernels->list_key(f->selection->rule, f->choices->n_fields, job.type == SL_U32,
		&f->columns, f->index, n, f->key, f->exec.stream));
	return sl_sort(f->sort, &f->exec, &job);
}

/* Copies the indices and the items of kept particles to new blocks. */
static enum sl_status copy_kept(const struct device_filter *f, struct sl_py_device_kept *kept)
{
	struct sl_items items;

	SL_TRY(sl_block_take((size_t)kept->n * sizeof(*f->index), f->exec.stream, &kept->index));
	SL_TRY(sl_copy(
		kept->index->data, f->index, (size_t)kept->n * sizeof(*f->index), f->exec.stream));
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_py_array *a = &f->t->table.column[c];

		if (a->constant || !(sl_py_is_real(a) || sl_py_is_whole(a)))
			continue;
		SL_TRY(items_of(f, c, &items));
		SL_TRY(sl_block_take((size_t)kept->n * a->bytes, f->exec.stream, &kept->column[c]));
		if (kept->n > 0)
			SL_TRY(f->kernels->take(
				&items, f->index, kept->n, kept->column[c]->data, f->exec.stream));
	}
	return sl_stream_wait(f->exec.stream);
}

static enum sl_status run(struct device_filter *f, struct sl_py_device_kept *kept)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		SL_TRY(sl_py_device_input_follow(&f->t->in[c], f->exec.stream));
	if (f->t->table.n > 0)
		SL_TRY(keep(f, &kept->n));
	if (f->choices->n_fields > 0 && kept->n > 0)
		SL_TRY(order(f, kept->n));
	return copy_kept(f, kept);
}

static enum sl_status filter(struct device_filter *f, struct sl_py_device_kept *kept)
{
	struct sl_device_block *block;
	struct sl_arena a = {0};
	enum sl_status s;

	lay_out(f, &a);
	SL_TRY(sl_block_take(a.used, f->exec.stream, &block));
	a = (struct sl_arena){block->data, 0, a.used};
	lay_out(f, &a);
	s = run(f, kept);
	sl_block_give_on(block, f->exec.stream);
	return s;
}

enum sl_status sl_py_device_filter(const struct sl_py_device_table *t,
	const struct sl_py_selection *selection, struct sl_py_device_kept *kept)
{
	struct device_filter f = {.t = t,
		.selection = selection,
		.choices = &selection->choices,
		.kernels = sl_kernels_find(),
		.exec = {.space = SL_DEVICE}};

	SL_TRY(sl_find(SL_COMPACT, "shared", &f.compact));
	SL_TRY(sl_find(SL_SORT, "shared", &f.sort));
	return filter(&f, kept);
}
