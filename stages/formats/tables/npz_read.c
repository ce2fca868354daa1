/*
 * npz_read.c - see tables.h.
 *
 * Headers must be exactly those that the format writes for the same table, and each member has a
 * checksum. The only changes that are not detected are those of padding bits: after the end of a
 * DEFLATE stream, and before the length of a stored block.
 */
#include "stages/formats/tables/tables.h"

#include <stdio.h>
#include <string.h>

/* State of a file that is read. */
struct npz_reading {
	struct sl_zip zip;
	struct sl_table *table;
	struct sl_arena *a;
};

static const char advice[] =
	": the file is damaged, or is not an npz file of this program; inspect it with unzip -t, make "
	"it again, or read it with numpy";

/* Fails with what is wrong with the file. */
static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT, "%s%s", problem, advice);
}

/* All columns must have the same number of rows, and not more than the data can expand to. */
static enum sl_status agree_on_rows(
	struct sl_table *t, const struct sl_zip_member *m, const struct sl_column_facts *f)
{
	uint64_t items = m->size - SL_NPY_BYTES, n = items / f->bytes;

	if (m->size < SL_NPY_BYTES || items % f->bytes != 0 || n > UINT32_MAX ||
		(t->n_columns > 0 && n != t->n))
		return damaged(
			"its number of rows is not an integer, or not that of the other columns");
	if (m->size / SL_INFLATE_RATIO_MAX > m->packed)
		return damaged("it claims more rows than the file can hold");
	t->n = (uint32_t)n;
	return SL_OK;
}

/* Reads the array of a member to items. */
static enum sl_status read_items(const struct sl_zip_member *m, const uint8_t *data,
	const struct sl_column_facts *f, uint32_t n, void *items)
{
	SL_CLOSED_BY(sl_npy_close) struct sl_npy_stream in = {.advice = advice};
	char header[SL_NPY_BYTES], expected[SL_NPY_BYTES];

	SL_TRY(sl_npy_open_member(&in, m, data));
	SL_TRY(sl_npy_read(&in, header, sizeof(header)));
	SL_TRY(sl_npy_read(&in, items, (size_t)n * f->bytes));
	SL_TRY(sl_npy_end(&in));
	sl_npy_header(expected, f->type, n);
	return memcmp(header, expected, SL_NPY_BYTES) == 0
	               ? SL_OK
	               : damaged("its header is not as this program writes it");
}

/* Reads a member that is a column, or, without memory, only adds it to the table. */
static enum sl_status read_column(struct npz_reading *r, const struct sl_zip_member *m,
	const uint8_t *data, enum sl_column column)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	struct sl_table *t = r->table;
	struct sl_table_column c = {.column = column};
	bool stored = m->method == SL_ZIP_STORED;

	if (sl_table_find(t, column))
		return damaged("there are two of it in the archive");
	if (stored ? m->packed != m->size : m->method != SL_ZIP_DEFLATED)
		return damaged("its compression method is not one that this program uses");
	SL_TRY(agree_on_rows(t, m, f));
	t->column[t->n_columns] = c;
	c.data = t->column[t->n_columns].data = sl_read_cut(r->a, t, t->n_columns);
	t->n_columns++;
	return c.data ? read_items(m, data, f, t->n, c.data) : SL_OK;
}

/* Reads the unit of a named column from the text of about.npy, in the words of npz.c. */
static enum sl_status read_unit(struct sl_column_label *label, const char *text, size_t bytes)
{
	char key[SL_COLUMN_NAME_BYTES + 8], unit[16] = "";
	const char *at = (const char *)memmem(text, bytes, SL_NPZ_UNITS, strlen(SL_NPZ_UNITS));
	const char *end = text + bytes;
	const char *close = at ? (const char *)memchr(at, '}', (size_t)(end - at)) : NULL;

	snprintf(key, sizeof(key), "\"%s\": \"", label->name);
	at = close ? (const char *)memmem(at, (size_t)(close - at), key, strlen(key)) : NULL;
	at = at ? at + strlen(key) : NULL;
	end = at ? (const char *)memchr(at, '"', (size_t)(close - at)) : NULL;
	if (!end || (size_t)(end - at) >= sizeof(unit))
		return damaged("it has no unit of a column");
	memcpy(unit, at, (size_t)(end - at));
	label->unit = sl_stored_unit(unit);
	return label->unit < SL_UNIT_COUNT ? SL_OK : damaged("it has an unknown unit");
}

/*
 * about.npy is for other readers: only its checksum is verified, and the units of named columns are
 * read.
 */
static enum sl_status read_about(
	struct sl_table *t, const struct sl_zip_member *m, const uint8_t *data)
{
	if (!sl_is_text(m->name, m->name_bytes, SL_NPZ_ABOUT))
		return damaged("it is in the place of " SL_NPZ_ABOUT ", the last member");
	if (m->method != SL_ZIP_STORED || m->packed != m->size ||
		sl_crc32(data, (size_t)m->size) != m->crc)
		return damaged("its data does not match its checksum");
	for (int i = 0; i < SL_NAMED_COLUMNS_MAX; i++)
		if (t->label[i].name[0])
			SL_TRY(read_unit(&t->label[i], (const char *)data, (size_t)m->size));
	return SL_OK;
}

/* Reads the next member; about.npy must be the last one, all others are columns. */
static enum sl_status read_member(struct npz_reading *r, bool last)
{
	struct sl_zip_member m;
	const uint8_t *data;
	enum sl_column column;
	enum sl_status s;
	size_t length;

	if (!sl_zip_next(&r->zip, &m, &data))
		return damaged("a header of a member is not as this program writes it");
	length = sl_npz_name_length(&m);
	column = last || length == 0 ? SL_COLUMN_COUNT
	                             : sl_table_column_named(r->table, m.name, length);
	if (last)
		s = read_about(r->table, &m, data);
	else if (column == SL_COLUMN_COUNT)
		s = damaged("it is no column of this program");
	else
		s = read_column(r, &m, data, column);
	return sl_add_context(s, "member %.*s", (int)m.name_bytes, m.name);
}

enum sl_status sl_npz_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct npz_reading r = {.table = t, .a = a};

	sl_read_begin(t);
	if (!sl_zip_open(&r.zip, file, bytes))
		return damaged("it does not end as a zip archive of this program does");
	if (r.zip.n == 0 || r.zip.n > SL_COLUMN_COUNT + 1)
		return damaged("it has too many members, or none");
	for (uint64_t i = 0; i < r.zip.n; i++)
		SL_TRY(read_member(&r, i + 1 == r.zip.n));
	if (!sl_zip_ends(&r.zip))
		return damaged("there is something between its members and their directory");
	return sl_format_check_columns(a);
}
