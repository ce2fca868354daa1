/*
 * npz_any.c - see tables.h.
 *
 * A member NAME.npy is an array: magic, version, length of the header (2 bytes, or 4 from version 2
 * on), the header, a dict of Python with type, order and shape, and the items. An array of no
 * dimension is a number for all particles. (numpy, lib/format.py.) Items pass through a small
 * buffer; the checksum of each member is verified.
 */
#include "stages/formats/tables/tables.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "stages/formats/common/common.h"

enum { MAGIC = 6, HEADER_MOST = 1024, BUFFER_BYTES = 4096 };

/* A member that is read. */
struct array {
	const struct sl_zip_member *m;
	const uint8_t *data; /* of a stored member: what is not read yet */
	struct sl_inflate z;
	uint64_t left; /* bytes not read yet, decompressed */
	uLong crc;
	char kind; /* of items: f, i, u or b */
	uint32_t bytes;
	uint64_t n;
	bool constant;
};

static enum sl_status refuse(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s; write the columns of a list (x, y, z, u, v, w, energy, time, weight, pdg) as "
		"one-dimensional little-endian arrays of one length with numpy.savez()",
		problem);
}

static enum sl_status read_bytes(struct array *r, void *out, size_t bytes)
{
	size_t got = bytes;

	if (bytes > r->left)
		return refuse("it is shorter than its header states");
	if (r->m->method == SL_ZIP_DEFLATED) {
		SL_TRY(sl_inflate_next(&r->z, out, bytes, &got));
	} else {
		memcpy(out, r->data, bytes);
		r->data += bytes;
	}
	if (got != bytes)
		return refuse("its data is shorter than the archive states");
	r->left -= bytes;
	r->crc = crc32_z(r->crc, (const Bytef *)out, bytes);
	return SL_OK;
}

/* Reads the header of the array. */
static enum sl_status read_header(struct array *r)
{
	uint8_t start[MAGIC + 6] = {0};
	char text[HEADER_MOST + 1], *type, *shape, *end;
	size_t length;

	SL_TRY(read_bytes(r, start, MAGIC + 4));
	length = start[MAGIC + 2] | (size_t)start[MAGIC + 3] << 8;
	if (start[MAGIC] > 1) /* the length has two more bytes */
		SL_TRY(read_bytes(r, start + MAGIC + 4, 2));
	if (memcmp(start, "\x93NUMPY", MAGIC) != 0 || length > HEADER_MOST || start[MAGIC + 4] ||
		start[MAGIC + 5])
		return refuse("it is not an array of numpy");
	SL_TRY(read_bytes(r, text, length));
	text[length] = '\0';
	type = strstr(text, "'descr': '");
	shape = strstr(text, "'shape': (");
	if (!type || !shape)
		return refuse("its type is not that of numbers");
	type += strlen("'descr': '");
	r->kind = type[0] ? type[1] : '\0';
	r->bytes = r->kind ? (uint32_t)(strtoul(type + 2, NULL, 10) & 0xff) : 0;
	if (!strchr("<|=", type[0]) ||
		!(r->kind == 'f' ? r->bytes == 4 || r->bytes == 8
				 : strchr("iub", r->kind) && r->bytes > 0 && r->bytes <= 8 &&
					   (r->bytes & (r->bytes - 1)) == 0))
		return refuse("its items are not numbers of 4 or 8 bytes, or whole numbers");
	shape += strlen("'shape': (");
	r->n = strtoull(shape, &end, 10);
	r->constant = *shape == ')';
	r->n = r->constant ? 1 : r->n;
	end += strspn(end, ", ");
	if (*end != ')')
		return refuse("it has more than one dimension");
	if (r->n != r->left / r->bytes || r->left % r->bytes != 0 || r->n > UINT32_MAX)
		return refuse("its shape does not agree with its size");
	return SL_OK;
}

/* An item as a double: exact, except integers above 2^53, which no column can hold. */
static double value_of(const struct array *r, const uint8_t *at)
{
	uint64_t bits = 0;
	int64_t whole;
	double wide;
	float narrow;

	memcpy(&bits, at, r->bytes); /* little-endian, as this machine */
	memcpy(&narrow, &bits, sizeof(narrow));
	memcpy(&wide, &bits, sizeof(wide));
	if (r->kind == 'f')
		return r->bytes == 4 ? (double)narrow : wide;
	bits <<= 64 - 8 * r->bytes;
	memcpy(&whole, &bits, sizeof(whole));
	return r->kind == 'i' ? (double)(whole >> (64 - 8 * r->bytes))
	                      : (double)(bits >> (64 - 8 * r->bytes));
}

static enum sl_status read_items(struct array *r, const struct sl_table_column *c)
{
	uint8_t buffer[BUFFER_BYTES], beyond;
	size_t more = 0;
	uint32_t some;

	for (uint32_t row = 0; row < r->n; row += some) {
		some = BUFFER_BYTES / r->bytes;
		some = some < r->n - row ? some : (uint32_t)r->n - row;
		SL_TRY(read_bytes(r, buffer, (size_t)some * r->bytes));
		for (uint32_t i = 0; i < some; i++)
			if (!sl_store_number(c, row + i, value_of(r, buffer + i * r->bytes)))
				return sl_fail(SL_BAD_INPUT,
					"item %u is %.9g, which the column cannot hold; correct it",
					row + i, value_of(r, buffer + i * r->bytes));
	}
	if (r->m->method == SL_ZIP_DEFLATED)
		SL_TRY(sl_inflate_next(&r->z, &beyond, 1, &more));
	return more == 0 && r->crc == r->m->crc ? SL_OK
	                                        : refuse("its data does not match its checksum");
}

/* Adds the column of a member to the table; with memory, reads it. */
static enum sl_status read_array(
	struct array *r, enum sl_column column, struct sl_arena *a, struct sl_table *t)
{
	struct sl_table_column c = {.column = column};

	SL_TRY(read_header(r));
	if (sl_table_find(t, column))
		return refuse("there are two of it");
	c.constant = r->constant;
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant && !r->constant && r->n != t->n)
			return refuse("its length is not that of the columns before it");
	if (!r->constant)
		t->n = (uint32_t)r->n;
	c.data = sl_cut_items(a, r->n, sl_column_facts[column].bytes);
	t->column[t->n_columns++] = c;
	return a->base && sl_fits(a) ? read_items(r, &c) : SL_OK;
}

static enum sl_status read_member(const struct sl_zip_member *m, const uint8_t *data,
	enum sl_column column, struct sl_arena *a, struct sl_table *t)
{
	struct array r = {.m = m, .data = data, .left = m->size};
	enum sl_status s;

	if (m->method == SL_ZIP_STORED ? m->packed != m->size : m->method != SL_ZIP_DEFLATED)
		return refuse("its compression method is not read");
	if (m->size / SL_INFLATE_RATIO_MAX > m->packed)
		return refuse("it claims more items than the file can hold");
	SL_TRY(sl_inflate_begin(&r.z, SL_RAW, data, (size_t)m->packed));
	s = read_array(&r, column, a, t);
	sl_inflate_end(&r.z);
	return s;
}

/* The next member; *length: of its name without .npy. */
static bool next(struct sl_zip *zip, struct sl_zip_member *m, const uint8_t **data, size_t *length)
{
	const size_t suffix = strlen(SL_NPZ_SUFFIX);

	if (!sl_zip_next_any(zip, m, data))
		return false;
	*length = m->name_bytes > suffix && memcmp(m->name + m->name_bytes - suffix, SL_NPZ_SUFFIX,
						    suffix) == 0
	                  ? m->name_bytes - suffix
	                  : 0;
	return true;
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
		if (!next(&zip, &m, &data, &length) ||
			(m.name_bytes == strlen(SL_NPZ_ABOUT) &&
				memcmp(m.name, SL_NPZ_ABOUT, m.name_bytes) == 0))
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

		if (!next(&zip, &m, &data, &length))
			return refuse("its directory is damaged");
		column = sl_list_column(m.name, length);
		if (column != SL_COLUMN_COUNT)
			SL_TRY(sl_add_context(read_member(&m, data, column, a, t), "member %.*s",
				(int)m.name_bytes, m.name));
	}
	return sl_format_check_columns(a);
}
