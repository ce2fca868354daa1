/* zip.c - see tables.h. */
#include "stages/formats/tables/tables.h"

#include <string.h>

enum {
	LOCAL = 0x04034b50,
	ENTRY = 0x02014b50,
	END = 0x06054b50,
	END_64 = 0x06064b50,
	LOCATOR_64 = 0x07064b50,
	EXTRA_64 = 1,      /* the tag of zip64's fields */
	DATE = 1 << 5 | 1, /* 1980-01-01 */
	DEFLATES = 20,     /* version 2.0 of the format has DEFLATE, ... */
	HAS_64 = 45,       /* ... and version 4.5 has zip64 */
	LOCAL_BYTES = 30,
	ENTRY_BYTES = 46,
	END_BYTES = 22,
	END_64_BYTES = 56,
	LOCATOR_64_BYTES = 20
};

/*
 * Markers in fields of 32 and 16 bits: the value is in a zip64 field. Values that equal a marker
 * also use zip64.
 */
static const uint32_t in_zip64 = UINT32_MAX;
static const uint32_t in_zip64_16 = UINT16_MAX;

/* --- writing ---------------------------------------------------------------------------------- */

/* The number in a field of 32 bits, or the marker if it needs zip64. */
static uint32_t or_marker(uint64_t value)
{
	return value < in_zip64 ? (uint32_t)value : in_zip64;
}

/* Writes numbers of so many bytes each: a digit for each number. */
static uint8_t *put_numbers(uint8_t *to, const char *bytes, const uint64_t *number)
{
	for (; *bytes; bytes++)
		to = sl_put_number(to, *number++, *bytes - '0');
	return to;
}

/* The name has no terminator in a file: its length is a field of the header. */
static uint8_t *put_name(uint8_t *to, const struct sl_zip_member *m)
{
	memcpy(to, m->name, m->name_bytes);
	return to + m->name_bytes;
}

/* The fields that local header and directory entry share, from the version on. */
static uint8_t *put_facts(
	uint8_t *to, const struct sl_zip_member *m, uint32_t packed, uint32_t size, int extra_bytes)
{
	const uint64_t number[] = {(uint64_t)(extra_bytes ? HAS_64 : DEFLATES), 0, m->method, 0,
		DATE, m->crc, packed, size, m->name_bytes, (uint64_t)extra_bytes};

	return put_numbers(to, "2222244422", number);
}

/* A local header has either both sizes in zip64 or none (4.5.3). */
size_t sl_zip_local(const struct sl_zip_member *m, uint8_t *out)
{
	bool large = m->packed >= in_zip64 || m->size >= in_zip64;
	uint8_t *to = sl_put_number(out, LOCAL, 4);

	to = put_facts(to, m, large ? in_zip64 : (uint32_t)m->packed,
		large ? in_zip64 : (uint32_t)m->size, large ? 20 : 0);
	to = put_name(to, m);
	if (large) {
		to = sl_put_number(sl_put_number(to, EXTRA_64, 2), 16, 2);
		to = sl_put_number(sl_put_number(to, m->size, 8), m->packed, 8);
	}
	return (size_t)(to - out);
}

/* A directory entry has in zip64 only the numbers that do not fit. */
size_t sl_zip_entry(const struct sl_zip_member *m, uint8_t *out)
{
	const uint64_t number[] = {m->size, m->packed, m->at};
	uint8_t *to = sl_put_number(out, ENTRY, 4);
	int large = 0;

	for (int i = 0; i < 3; i++)
		large += number[i] >= in_zip64;
	to = sl_put_number(to, large ? HAS_64 : DEFLATES, 2);
	to = put_facts(to, m, or_marker(m->packed), or_marker(m->size), large ? 4 + 8 * large : 0);
	to = sl_put_number(sl_put_number(to, 0, 8), 0, 2); /* comment length, disk, attributes */
	to = sl_put_number(to, or_marker(m->at), 4);
	to = put_name(to, m);
	if (large)
		to = sl_put_number(sl_put_number(to, EXTRA_64, 2), (uint64_t)(8 * large), 2);
	for (int i = 0; i < 3; i++)
		if (number[i] >= in_zip64)
			to = sl_put_number(to, number[i], 8);
	return (size_t)(to - out);
}

/*
 * The end record of zip64, and the locator by which readers find it from the end of the file. The
 * size in the record leaves out its first 12 bytes. (4.3.14, 4.3.15)
 */
static uint8_t *put_end_64(uint8_t *to, uint64_t n, uint64_t at, uint64_t bytes)
{
	const uint64_t number[] = {END_64, END_64_BYTES - 12, HAS_64, HAS_64, 0, n, n, bytes, at,
		LOCATOR_64, 0, at + bytes, 1};

	return put_numbers(to, "4822888884484", number);
}

/*
 * All readers look for the last record first, so it is always written; zip64 precedes it only if a
 * number does not fit, because some readers do not know zip64.
 */
size_t sl_zip_end(uint64_t n, uint64_t at, uint64_t bytes, uint8_t *out)
{
	const uint64_t few = n < in_zip64_16 ? n : in_zip64_16;
	const uint64_t number[] = {END, 0, few, few, or_marker(bytes), or_marker(at), 0};
	uint8_t *to = out;

	if (n >= in_zip64_16 || at >= in_zip64 || bytes >= in_zip64)
		to = put_end_64(to, n, at, bytes);
	return (size_t)(put_numbers(to, "4422442", number) - out);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads the numbers of the end. */
static bool read_end(struct sl_zip *z, const void *file, size_t bytes, uint64_t *directory_bytes)
{
	const uint8_t *end = (const uint8_t *)file + (bytes < END_BYTES ? 0 : bytes - END_BYTES);

	if (bytes < END_BYTES)
		return false;
	*z = (struct sl_zip){.file = (const uint8_t *)file, .n = sl_get_number(end + 10, 2)};
	*directory_bytes = sl_get_number(end + 12, 4);
	z->directory = sl_get_number(end + 16, 4);
	if (bytes >= SL_ZIP_END_BYTES && sl_get_number(end - LOCATOR_64_BYTES, 4) == LOCATOR_64) {
		const uint8_t *end_64 = end - LOCATOR_64_BYTES - END_64_BYTES;

		z->n = sl_get_number(end_64 + 32, 8);
		*directory_bytes = sl_get_number(end_64 + 40, 8);
		z->directory = sl_get_number(end_64 + 48, 8);
	}
	z->entry = z->directory;
	z->end = z->directory + *directory_bytes;
	return z->directory <= bytes && *directory_bytes <= bytes - z->directory;
}

/* Verifies the end by writing it again from its numbers. */
bool sl_zip_open(struct sl_zip *z, const void *file, size_t bytes)
{
	uint8_t again[SL_ZIP_END_BYTES];
	uint64_t directory_bytes;
	size_t end_bytes;

	if (!read_end(z, file, bytes, &directory_bytes))
		return false;
	end_bytes = sl_zip_end(z->n, z->directory, directory_bytes, again);
	return end_bytes == bytes - z->end && memcmp(z->file + z->end, again, end_bytes) == 0;
}

bool sl_zip_open_any(struct sl_zip *z, const void *file, size_t bytes)
{
	static const uint8_t end[] = {'P', 'K', 5, 6};
	uint64_t directory_bytes;

	return read_end(z, file, bytes, &directory_bytes) &&
	       memcmp(z->file + bytes - END_BYTES, end, sizeof(end)) == 0;
}

/* Reads the numbers of the entry at e and its size; false if it is longer than so many bytes. */
static bool get_entry(
	const uint8_t *e, uint64_t bytes, struct sl_zip_member *m, uint64_t *entry_bytes)
{
	uint64_t name_bytes, *large[] = {&m->size, &m->packed, &m->at};
	const uint8_t *extra;

	if (bytes < ENTRY_BYTES)
		return false;
	name_bytes = sl_get_number(e + 28, 2);
	*entry_bytes =
		ENTRY_BYTES + name_bytes + sl_get_number(e + 30, 2) + sl_get_number(e + 32, 2);
	if (name_bytes > SL_ZIP_NAME_MAX || *entry_bytes > bytes)
		return false;
	*m = (struct sl_zip_member){.name = (const char *)e + ENTRY_BYTES,
		.name_bytes = (size_t)name_bytes,
		.method = (uint32_t)sl_get_number(e + 10, 2),
		.crc = (uint32_t)sl_get_number(e + 16, 4),
		.packed = sl_get_number(e + 20, 4),
		.size = sl_get_number(e + 24, 4),
		.at = sl_get_number(e + 42, 4)};
	extra = e + ENTRY_BYTES + name_bytes + 4;
	for (int i = 0; i < 3; i++)
		if (*large[i] == in_zip64) {
			if (e + bytes - extra < 8)
				return false;
			*large[i] = sl_get_number(extra, 8);
			extra += 8;
		}
	return true;
}

/* Whether the next bytes, of those left, are these. */
static bool is_next(const uint8_t *at, uint64_t left, const uint8_t *again, size_t bytes)
{
	return bytes <= left && memcmp(at, again, bytes) == 0;
}

bool sl_zip_next_any(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data)
{
	uint64_t entry_bytes, before;
	const uint8_t *local;

	if (!get_entry(z->file + z->entry, z->end - z->entry, m, &entry_bytes))
		return false;
	z->entry += entry_bytes;
	if (m->at > z->directory || z->directory - m->at < LOCAL_BYTES)
		return false;
	local = z->file + m->at;
	before = m->at + LOCAL_BYTES + sl_get_number(local + 26, 2) + sl_get_number(local + 28, 2);
	if (before > z->directory || m->packed > z->directory - before)
		return false;
	*data = z->file + before;
	return true;
}

/*
 * Members must follow one another without gaps, in the order of the directory. Otherwise data could
 * hide between them, and a damaged offset could lead outside the file.
 */
bool sl_zip_next(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data)
{
	const uint8_t *entry = z->file + z->entry, *local = z->file + z->member;
	const uint64_t left = z->end - z->entry, before = z->directory - z->member;
	uint8_t again[SL_ZIP_HEADER_BYTES];

	if (!sl_zip_next_any(z, m, data) || m->at != z->member ||
		!is_next(entry, left, again, sl_zip_entry(m, again)) ||
		!is_next(local, before, again, sl_zip_local(m, again)))
		return false;
	z->member = (uint64_t)(*data - z->file) + m->packed;
	return true;
}

bool sl_zip_ends(const struct sl_zip *z)
{
	return z->member == z->directory && z->entry == z->end;
}
