/*
 * npz_any.c - see tables.h.
 *
 * A member NAME.npy is an array (npy.c). An array of no dimension is a number for all particles.
 * Items pass through a small buffer; the checksum of each member is verified.
 */
#include "stages/formats/tables/tables.h"

#include <string.h>

enum { BUFFER_BYTES = 4096 };

static const char advice[] =
	"; write the columns of a list (x, y, z, u, v, w, energy, time, weight, "
	"pdg) as one-dimensional little-endian arrays of one length with "
	"numpy.savez()";

static enum sl_status refuse(const char *problem)
{
	return sl_fail(SL_BAD_INPUT, "%s%s", problem, advice);
}

static enum sl_status read_items(
	struct sl_npy_stream *in, const struct sl_npy *a, const struct sl_table_column *c)
{
	uint8_t buffer[BUFFER_BYTES];
	uint32_t some;

	for (uint32_t row = 0; row < a->n; row += some) {
		some = BUFFER_BYTES / a->bytes;
		some = some < a->n - row ? some : (uint32_t)a->n - row;
		SL_TRY(sl_npy_read(in, buffer, (size_t)some * a->bytes));
		for (uint32_t i = 0; i < some; i++) {
			double value = sl_npy_value(a, buffer + i * a->bytes);

			if (!sl_store_number(c, row + i, value))
				return sl_fail(SL_BAD_INPUT,
					"item %u is %.9g, which the column cannot hold; correct it",
					row + i, value);
		}
	}
	return sl_npy_end(in);
}

/* Adds the column of a member to the table; with memory, reads it. */
static enum sl_status read_member(const struct sl_zip_member *m, const uint8_t *data,
	enum sl_column column, struct sl_arena *a, struct sl_table *t)
{
	SL_CLOSED_BY(sl_npy_close) struct sl_npy_stream in = {.advice = advice};
	struct sl_table_column c = {.column = column};
	struct sl_npy r;

	SL_TRY(sl_npy_open_member(&in, m, data));
	SL_TRY(sl_npy_read_header(&in, &r));
	if (r.big_endian)
		return refuse("its items are not numbers of 4 or 8 bytes, or whole numbers");
	if (r.dimensions > 1)
		return refuse("it has more than one dimension");
	if (r.n > UINT32_MAX)
		return refuse("its shape does not agree with its size");
	if (sl_table_find(t, column))
		return refuse("there are two of it");
	c.constant = r.dimensions == 0;
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant && !c.constant && r.n != t->n)
			return refuse("its length is not that of the columns before it");
	if (!c.constant)
		t->n = (uint32_t)r.n;
	c.data = sl_cut_items(a, r.n, sl_column_facts[column].bytes);
	t->column[t->n_columns++] = c;
	return a->base && sl_fits(a) ? read_items(&in, &r, &c) : SL_OK;
}

bool sl_npz_is_any(const void *file, size_t bytes)
{
	struct sl_zip_member m;
	const uint8_t *data;
	bool found = false;
	struct sl_zip zip;
	size_t length;

	if (!sl_zip_open_any(&zip, file, bytes))
		return false;
	for (uint64_t i = 0; i < zip.n; i++) {
		if (!sl_npz_next(&zip, &m, &data, &length) ||
			sl_is_text(m.name, m.name_bytes, SL_NPZ_ABOUT))
			return false;
		found |= sl_list_column(m.name, length) == SL_COLUMN_energy;
	}
	return found;
}

enum sl_status sl_npz_read_any(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct sl_zip zip;

	sl_read_begin(t);
	if (!sl_zip_open_any(&zip, file, bytes))
		return refuse("it does not end as a zip archive");
	for (uint64_t i = 0; i < zip.n; i++) {
		struct sl_zip_member m;
		enum sl_column column;
		const uint8_t *data;
		size_t length;

		if (!sl_npz_next(&zip, &m, &data, &length))
			return refuse("its directory is damaged");
		column = sl_list_column(m.name, length);
		if (column != SL_COLUMN_COUNT)
			SL_TRY(sl_add_context(read_member(&m, data, column, a, t), "member %.*s",
				(int)m.name_bytes, m.name));
	}
	return sl_format_check_columns(a);
}
