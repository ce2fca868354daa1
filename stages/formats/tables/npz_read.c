/*
 * npz_read.c - the columns of an npz file that is in memory.
 *
 * Strict: headers must be those that packing the same table would have made, to the byte, and every
 * member has its checksum. What may change unseen are the bits behind the end of a deflated stream,
 * and of what a stored block begins with, up to the next byte.
 */
#include "stages/formats/tables/npz_read.h"

#include <string.h>

#include "stages/formats/common/inflate.h"
#include "stages/formats/tables/npz.h"

/* A file being read. */
struct reading {
	struct sl_zip zip;
	struct sl_table *table;
	struct sl_arena *a;
};

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: it is no npz of this program, or it is damaged; look with unzip -t, make it "
		"again, or read it with numpy",
		problem);
}

/* The column whose member that is; SL_COLUMN_COUNT for another member. */
static enum sl_column column_of(const struct sl_zip_member *m)
{
	char name[SL_ZIP_NAME_MAX];
	int i = 0;

	while (i < SL_COLUMN_COUNT && (sl_npz_name(name, (enum sl_column)i) != m->name_bytes ||
					      memcmp(name, m->name, m->name_bytes) != 0))
		i++;
	return (enum sl_column)i;
}

/* All columns have as many rows, no more than there may be data for. */
static enum sl_status agree_on_rows(
	struct sl_table *t, const struct sl_zip_member *m, const struct sl_column_facts *f)
{
	uint64_t items = m->size - SL_NPY_BYTES, n = items / f->bytes;

	if (m->size < SL_NPY_BYTES || items % f->bytes != 0 || n > UINT32_MAX ||
		(t->n_columns > 0 && n != t->n))
		return damaged("its number of rows is none, or not that of the other columns");
	if (m->size / SL_INFLATE_RATIO_MAX > m->packed)
		return damaged("it claims more rows than the file can hold");
	t->n = (uint32_t)n;
	return SL_OK;
}

/* The next bytes of a member's data, stored or inflated. */
static enum sl_status next_bytes(struct sl_inflate *z, const struct sl_zip_member *m,
	const uint8_t **data, void *out, size_t bytes)
{
	size_t got = bytes;

	if (m->method == SL_ZIP_DEFLATED) {
		SL_TRY(sl_inflate_next(z, out, bytes, &got));
	} else {
		memcpy(out, *data, bytes);
		*data += bytes;
	}
	return got == bytes ? SL_OK : damaged("its data is shorter than it should be");
}

/* Header and items of an array, which has its checksum. */
static enum sl_status read_bytes(struct sl_inflate *z, const struct sl_zip_member *m,
	const uint8_t *data, char header[SL_NPY_BYTES], void *items)
{
	size_t bytes = (size_t)m->size - SL_NPY_BYTES;
	size_t more = 0;
	uLong crc;
	char beyond;

	SL_TRY(next_bytes(z, m, &data, header, SL_NPY_BYTES));
	SL_TRY(next_bytes(z, m, &data, items, bytes));
	if (m->method == SL_ZIP_DEFLATED)
		SL_TRY(sl_inflate_next(z, &beyond, 1, &more));
	crc = crc32_z(crc32_z(0, (const Bytef *)header, SL_NPY_BYTES), (const Bytef *)items, bytes);
	if (more > 0 || crc != m->crc)
		return damaged("its data is not that of its checksum");
	return SL_OK;
}

static enum sl_status read_items(const struct sl_zip_member *m, const uint8_t *data,
	const struct sl_column_facts *f, uint32_t n, void *items)
{
	char header[SL_NPY_BYTES], expected[SL_NPY_BYTES];
	struct sl_inflate z;
	enum sl_status status;

	SL_TRY(sl_inflate_begin(&z, SL_RAW, data, (size_t)m->packed));
	status = read_bytes(&z, m, data, header, items);
	sl_inflate_end(&z);
	SL_TRY(status);
	sl_npy_header(expected, f->type, n);
	return memcmp(header, expected, SL_NPY_BYTES) == 0
	               ? SL_OK
	               : damaged("its header is not as this program writes it");
}

static enum sl_status read_column(struct reading *r, const struct sl_zip_member *m,
	const uint8_t *data, enum sl_column column)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	struct sl_table *t = r->table;
	struct sl_table_column c = {.column = column};
	bool stored = m->method == SL_ZIP_STORED;

	if (sl_table_find(t, column))
		return damaged("there are two of it");
	if (stored ? m->packed != m->size : m->method != SL_ZIP_DEFLATED)
		return damaged("it is packed in a way that this program does not use");
	SL_TRY(agree_on_rows(t, m, f));
	c.data = sl_cut_items(r->a, t->n, f->bytes);
	t->column[t->n_columns++] = c;
	return c.data ? read_items(m, data, f, t->n, c.data) : SL_OK;
}

/* What the file is about is for others to read: whole is all that it must be. */
static enum sl_status check_about(const struct sl_zip_member *m, const uint8_t *data)
{
	if (m->name_bytes != sizeof(SL_NPZ_ABOUT) - 1 ||
		memcmp(m->name, SL_NPZ_ABOUT, m->name_bytes) != 0)
		return damaged("it stands in the place of " SL_NPZ_ABOUT);
	if (m->method != SL_ZIP_STORED || m->packed != m->size ||
		crc32_z(0, data, (size_t)m->size) != m->crc)
		return damaged("its data is not that of its checksum");
	return SL_OK;
}

static enum sl_status read_member(struct reading *r, bool last)
{
	struct sl_zip_member m;
	const uint8_t *data;
	enum sl_column column;
	enum sl_status s;

	if (!sl_zip_next(&r->zip, &m, &data))
		return damaged("a header of a member is not as this program writes it");
	column = column_of(&m);
	if (last)
		s = check_about(&m, data);
	else if (column == SL_COLUMN_COUNT)
		s = damaged("it is no column that is known");
	else
		s = read_column(r, &m, data, column);
	return sl_add_context(s, "member %.*s", (int)m.name_bytes, m.name);
}

enum sl_status sl_npz_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct reading r = {.table = t, .a = a};

	*t = (struct sl_table){0};
	if (!sl_zip_open(&r.zip, file, bytes))
		return damaged("it does not end as an archive does");
	if (r.zip.n == 0 || r.zip.n > SL_COLUMN_COUNT + 1)
		return damaged("it has too many members, or none");
	for (uint64_t i = 0; i < r.zip.n; i++)
		SL_TRY(read_member(&r, i + 1 == r.zip.n));
	if (!sl_zip_ends(&r.zip))
		return damaged("there is something between its members and their directory");
	if (a->base && !sl_fits(a))
		return sl_fail(SL_USAGE,
			"%zu bytes for the columns of a file that needs %zu: measure first",
			a->size, a->used);
	return SL_OK;
}
