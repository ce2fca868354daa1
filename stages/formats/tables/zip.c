/* zip.c - see zip.h. */
#include "stages/formats/tables/zip.h"

#include <string.h>

enum {
	LOCAL = 0x04034b50,
	ENTRY = 0x02014b50,
	END = 0x06054b50,
	END_64 = 0x06064b50,
	LOCATOR_64 = 0x07064b50,
	EXTRA_64 = 1,      /* the tag of zip64's fields */
	DATE = 1 << 5 | 1, /* 1980-01-01 */
	DEFLATES = 20,     /* version 2.0 is needed to inflate, ... */
	HAS_64 = 45,       /* ... 4.5 to read zip64 */
	ENTRY_BYTES = 46,
	END_BYTES = 22,
	END_64_BYTES = 56,
	LOCATOR_64_BYTES = 20
};

/* In a field of 32 or 16 bits: look for it in zip64's. So these values stand there as well. */
static const uint32_t elsewhere = UINT32_MAX;
static const uint32_t elsewhere_16 = UINT16_MAX;

/* --- writing ---------------------------------------------------------------------------------- */

/* Numbers stand with their least byte first. */
static uint8_t *put(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	return to + bytes;
}

static uint32_t or_elsewhere(uint64_t value)
{
	return value < elsewhere ? (uint32_t)value : elsewhere;
}

static uint8_t *put_name(uint8_t *to, const struct sl_zip_member *m)
{
	memcpy(to, m->name, m->name_bytes);
	return to + m->name_bytes;
}

/* What both headers have in common, from the version that is needed on. */
static uint8_t *put_facts(
	uint8_t *to, const struct sl_zip_member *m, uint32_t packed, uint32_t size, int extra_bytes)
{
	to = put(to, extra_bytes ? HAS_64 : DEFLATES, 2);
	to = put(to, 0, 2);
	to = put(to, m->method, 2);
	to = put(to, 0, 2);
	to = put(to, DATE, 2);
	to = put(to, m->crc, 4);
	to = put(to, packed, 4);
	to = put(to, size, 4);
	to = put(to, m->name_bytes, 2);
	return put(to, (uint64_t)extra_bytes, 2);
}

/* A local header has both sizes in zip64 or none. */
size_t sl_zip_local(const struct sl_zip_member *m, uint8_t *out)
{
	bool large = m->packed >= elsewhere || m->size >= elsewhere;
	uint8_t *to = put(out, LOCAL, 4);

	to = put_facts(to, m, large ? elsewhere : (uint32_t)m->packed,
		large ? elsewhere : (uint32_t)m->size, large ? 20 : 0);
	to = put_name(to, m);
	if (large) {
		to = put(put(to, EXTRA_64, 2), 16, 2);
		to = put(put(to, m->size, 8), m->packed, 8);
	}
	return (size_t)(to - out);
}

/* An entry has in zip64 only what does not fit. */
size_t sl_zip_entry(const struct sl_zip_member *m, uint8_t *out)
{
	const uint64_t number[] = {m->size, m->packed, m->at};
	uint8_t *to = put(out, ENTRY, 4);
	int large = 0;

	for (int i = 0; i < 3; i++)
		large += number[i] >= elsewhere;
	to = put(to, large ? HAS_64 : DEFLATES, 2);
	to = put_facts(
		to, m, or_elsewhere(m->packed), or_elsewhere(m->size), large ? 4 + 8 * large : 0);
	to = put(put(to, 0, 8), 0, 2); /* no comment, the first disk, no attributes */
	to = put(to, or_elsewhere(m->at), 4);
	to = put_name(to, m);
	if (large)
		to = put(put(to, EXTRA_64, 2), (uint64_t)(8 * large), 2);
	for (int i = 0; i < 3; i++)
		if (number[i] >= elsewhere)
			to = put(to, number[i], 8);
	return (size_t)(to - out);
}

static uint8_t *put_end_64(uint8_t *to, uint64_t n, uint64_t at, uint64_t bytes)
{
	to = put(put(to, END_64, 4), END_64_BYTES - 12, 8);
	to = put(put(to, HAS_64, 2), HAS_64, 2);
	to = put(to, 0, 8);
	to = put(put(to, n, 8), n, 8);
	to = put(put(to, bytes, 8), at, 8);
	to = put(put(to, LOCATOR_64, 4), 0, 4);
	return put(put(to, at + bytes, 8), 1, 4);
}

size_t sl_zip_end(uint64_t n, uint64_t at, uint64_t bytes, uint8_t *out)
{
	uint32_t few = n < elsewhere_16 ? (uint32_t)n : elsewhere_16;
	uint8_t *to = out;

	if (n >= elsewhere_16 || at >= elsewhere || bytes >= elsewhere)
		to = put_end_64(to, n, at, bytes);
	to = put(put(to, END, 4), 0, 4);
	to = put(put(to, few, 2), few, 2);
	to = put(put(to, or_elsewhere(bytes), 4), or_elsewhere(at), 4);
	to = put(to, 0, 2);
	return (size_t)(to - out);
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t get(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

/* Takes what the end says; whether it says it as we do shows when it is made again. */
bool sl_zip_open(struct sl_zip *z, const void *file, size_t bytes)
{
	const uint8_t *end = (const uint8_t *)file + (bytes < END_BYTES ? 0 : bytes - END_BYTES);
	uint8_t again[SL_ZIP_END_BYTES];
	uint64_t directory_bytes;
	size_t end_bytes;

	if (bytes < END_BYTES)
		return false;
	*z = (struct sl_zip){.file = (const uint8_t *)file, .n = get(end + 10, 2)};
	directory_bytes = get(end + 12, 4);
	z->directory = get(end + 16, 4);
	if (bytes >= SL_ZIP_END_BYTES && get(end - LOCATOR_64_BYTES, 4) == LOCATOR_64) {
		const uint8_t *end_64 = end - LOCATOR_64_BYTES - END_64_BYTES;

		z->n = get(end_64 + 32, 8);
		directory_bytes = get(end_64 + 40, 8);
		z->directory = get(end_64 + 48, 8);
	}
	end_bytes = sl_zip_end(z->n, z->directory, directory_bytes, again);
	if (end_bytes > bytes || z->directory > bytes - end_bytes ||
		directory_bytes != bytes - end_bytes - z->directory)
		return false;
	z->entry = z->directory;
	z->end = z->directory + directory_bytes;
	return memcmp(z->file + z->end, again, end_bytes) == 0;
}

/* The numbers of the entry at e, of bytes bytes; false when they go beyond them. */
static bool get_entry(const uint8_t *e, uint64_t bytes, struct sl_zip_member *m)
{
	uint64_t name_bytes, *large[] = {&m->size, &m->packed, &m->at};
	const uint8_t *extra;

	if (bytes < ENTRY_BYTES)
		return false;
	name_bytes = get(e + 28, 2);
	if (name_bytes > SL_ZIP_NAME_MAX || name_bytes + get(e + 30, 2) > bytes - ENTRY_BYTES)
		return false;
	*m = (struct sl_zip_member){.name = (const char *)e + ENTRY_BYTES,
		.name_bytes = (size_t)name_bytes,
		.method = (uint32_t)get(e + 10, 2),
		.crc = (uint32_t)get(e + 16, 4),
		.packed = get(e + 20, 4),
		.size = get(e + 24, 4),
		.at = get(e + 42, 4)};
	extra = e + ENTRY_BYTES + name_bytes + 4;
	for (int i = 0; i < 3; i++)
		if (*large[i] == elsewhere) {
			if (e + bytes - extra < 8)
				return false;
			*large[i] = get(extra, 8);
			extra += 8;
		}
	return true;
}

/* Are the next bytes, of those there are, these? */
static bool is_next(const uint8_t *at, uint64_t left, const uint8_t *again, size_t bytes)
{
	return bytes <= left && memcmp(at, again, bytes) == 0;
}

bool sl_zip_next(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data)
{
	uint8_t again[SL_ZIP_HEADER_BYTES];
	uint64_t left = z->end - z->entry;
	size_t bytes;

	if (!get_entry(z->file + z->entry, left, m) || m->at != z->member)
		return false;
	bytes = sl_zip_entry(m, again);
	if (!is_next(z->file + z->entry, left, again, bytes))
		return false;
	z->entry += bytes;
	bytes = sl_zip_local(m, again);
	left = z->directory - z->member;
	if (!is_next(z->file + z->member, left, again, bytes) || m->packed > left - bytes)
		return false;
	*data = z->file + z->member + bytes;
	z->member += bytes + m->packed;
	return true;
}

bool sl_zip_ends(const struct sl_zip *z)
{
	return z->member == z->directory && z->entry == z->end;
}
