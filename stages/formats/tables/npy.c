/* npy.c - see tables.h. */
#include "stages/formats/tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 6, HEADER_MOST = 1024 };

static enum sl_status refuse(const struct sl_npy_stream *s, const char *problem)
{
	return sl_fail(SL_BAD_INPUT, "%s%s", problem, s->advice);
}

enum sl_status sl_npy_open_member(
	struct sl_npy_stream *s, const struct sl_zip_member *m, const uint8_t *data)
{
	if (m->method == SL_ZIP_STORED ? m->packed != m->size : m->method != SL_ZIP_DEFLATED)
		return refuse(s, "its compression method is not read");
	if (m->size / SL_INFLATE_RATIO_MAX > m->packed)
		return refuse(s, "it claims more items than the file can hold");
	s->member = m;
	s->left = m->size;
	if (m->method == SL_ZIP_DEFLATED)
		return sl_inflate_begin(&s->z, SL_RAW, data, (size_t)m->packed);
	s->stored = data;
	return SL_OK;
}

void sl_npy_close(struct sl_npy_stream *s)
{
	sl_inflate_end(&s->z);
}

enum sl_status sl_npy_read(struct sl_npy_stream *s, void *out, size_t bytes)
{
	size_t got = bytes;

	if (bytes > s->left)
		return refuse(s, "it is shorter than its header states");
	if (s->stored) {
		memcpy(out, s->stored, bytes);
		s->stored += bytes;
	} else {
		SL_TRY(sl_inflate_next(&s->z, out, bytes, &got));
	}
	if (got != bytes)
		return refuse(s, s->member ? "its data is shorter than the archive states"
					   : "its data is shorter than its header states");
	s->left -= bytes;
	if (s->member)
		s->crc = sl_crc32_update(s->crc, out, bytes);
	return SL_OK;
}

enum sl_status sl_npy_end(struct sl_npy_stream *s)
{
	size_t more = 0;
	uint8_t beyond;

	if (!s->stored)
		SL_TRY(sl_inflate_next(&s->z, &beyond, 1, &more));
	if (s->member && (more > 0 || s->crc != s->member->crc))
		return refuse(s, "its data does not match its checksum");
	return more == 0 ? SL_OK : refuse(s, "it is longer than its header states");
}

bool sl_npy_type(const char *text, size_t length, struct sl_npy *a)
{
	const char *end = text + length;
	char *after;

	a->big_endian = length > 0 && *text == '>';
	text += length > 0 && strchr("<|=>", *text) ? 1 : 0;
	a->kind = text < end ? *text++ : '\0';
	a->bytes = text < end && *text >= '0' && *text <= '9' ? (uint32_t)strtoul(text, &after, 10)
	                                                      : 0;
	if (a->bytes == 0 || after != end)
		return false;
	if (a->kind == 'f')
		return a->bytes == 4 || a->bytes == 8;
	return strchr("iub", a->kind) && a->bytes <= 8 && (a->bytes & (a->bytes - 1)) == 0;
}

/* Reads the sizes between the parentheses at text. */
static bool read_shape(const char *text, struct sl_npy *a)
{
	char *end;

	a->n = 1;
	for (a->dimensions = 0; *text != ')'; a->dimensions++) {
		uint64_t size = strtoull(text, &end, 10);

		if (end == text)
			return false;
		if (a->dimensions < 3)
			a->size[a->dimensions] = size;
		a->n = sl_size_mul(a->n, (size_t)size);
		text = end + strspn(end, ", ");
	}
	return true;
}

enum sl_status sl_npy_read_header(struct sl_npy_stream *s, struct sl_npy *a)
{
	static const char key_type[] = "'descr': '", key_shape[] = "'shape': (";
	uint8_t start[MAGIC + 6] = {0};
	char text[HEADER_MOST + 1], *type, *shape;
	size_t length;

	SL_TRY(sl_npy_read(s, start, MAGIC + 4));
	length = start[MAGIC + 2] | (size_t)start[MAGIC + 3] << 8;
	if (start[MAGIC] > 1) /* the length has two more bytes */
		SL_TRY(sl_npy_read(s, start + MAGIC + 4, 2));
	if (memcmp(start, "\x93NUMPY", MAGIC) != 0 || length > HEADER_MOST || start[MAGIC + 4] ||
		start[MAGIC + 5])
		return refuse(s, "it is not an array of numpy");
	SL_TRY(sl_npy_read(s, text, length));
	text[length] = '\0';
	type = strstr(text, key_type);
	shape = strstr(text, key_shape);
	if (!type || !shape)
		return refuse(s, "its type is not that of numbers");
	type += strlen(key_type);
	if (!sl_npy_type(type, strcspn(type, "'"), a))
		return refuse(s, "its items are not numbers of 4 or 8 bytes, or whole numbers");
	if (!read_shape(shape + strlen(key_shape), a) || sl_size_mul(a->n, a->bytes) != s->left)
		return refuse(s, "its shape does not agree with its size");
	a->fortran = strstr(text, "'fortran_order': True") != NULL;
	return SL_OK;
}

double sl_npy_value(const struct sl_npy *a, const uint8_t *at)
{
	const uint32_t unused = 64 - 8 * a->bytes;
	uint64_t bits;
	int64_t whole;
	double wide;
	float narrow;

	switch (a->bytes) { /* a constant number of bytes is one load */
	case 1:
		bits = *at;
		break;
	case 2:
		bits = sl_get_number(at, 2);
		break;
	case 4:
		bits = sl_get_number(at, 4);
		break;
	default:
		bits = sl_get_number(at, 8);
	}
	if (a->big_endian)
		bits = __builtin_bswap64(bits) >> unused;
	memcpy(&narrow, &bits, sizeof(narrow));
	memcpy(&wide, &bits, sizeof(wide));
	if (a->kind == 'f')
		return a->bytes == 4 ? (double)narrow : wide;
	if (a->kind != 'i')
		return (double)bits;
	bits <<= unused;
	memcpy(&whole, &bits, sizeof(whole));
	return (double)(whole >> unused);
}

size_t sl_npz_name_length(const struct sl_zip_member *m)
{
	const size_t suffix = strlen(SL_NPZ_SUFFIX);
	const size_t length = m->name_bytes > suffix ? m->name_bytes - suffix : 0;

	return memcmp(m->name + length, SL_NPZ_SUFFIX, length ? suffix : 0) == 0 ? length : 0;
}

bool sl_npz_next(struct sl_zip *zip, struct sl_zip_member *m, const uint8_t **data, size_t *length)
{
	if (!sl_zip_next_any(zip, m, data))
		return false;
	*length = sl_npz_name_length(m);
	return true;
}
