/*
 * zip.h - the headers of a zip archive: from numbers to bytes and back.
 *
 *	local header, data     for each member, one after another
 *	directory              an entry for each member: the same numbers, and its offset
 *	end                    the offset of the directory
 *
 * Sizes, offsets and counts that do not fit in the original fields of 16 or 32 bits use those of
 * zip64, and only those do. All dates are 1980-01-01, the earliest possible, so equal content makes
 * equal bytes. Names are ASCII. The functions do not touch the data of members. (PKWARE,
 * APPNOTE.TXT 6.3.9, 4.3 to 4.5.)
 */
#ifndef SL_STAGES_FORMATS_TABLES_ZIP_H
#define SL_STAGES_FORMATS_TABLES_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_ZIP_STORED = 0, SL_ZIP_DEFLATED = 8 };

struct sl_zip_member {
	const char *name; /* name_bytes characters, no terminator */
	size_t name_bytes;
	uint32_t method;       /* SL_ZIP_STORED or SL_ZIP_DEFLATED */
	uint32_t crc;          /* CRC-32 of the data before compression */
	uint64_t packed, size; /* bytes of the data, compressed and not */
	uint64_t at;           /* offset of the local header in the file */
};

/* Limits: bytes of a name, of a header with such a name, of what follows the directory. */
enum { SL_ZIP_NAME_MAX = 64, SL_ZIP_HEADER_BYTES = 256, SL_ZIP_END_BYTES = 98 };

/* Write a header to out, which has SL_ZIP_HEADER_BYTES bytes; return its size. */
size_t sl_zip_local(const struct sl_zip_member *m, uint8_t *out);
size_t sl_zip_entry(const struct sl_zip_member *m, uint8_t *out);

/*
 * Writes what follows a directory of n entries and so many bytes that begins at offset at. out has
 * SL_ZIP_END_BYTES bytes. Returns the size.
 */
size_t sl_zip_end(uint64_t n, uint64_t at, uint64_t bytes, uint8_t *out);

/* An archive that is read member by member. */
struct sl_zip {
	const uint8_t *file;
	uint64_t n;              /* members */
	uint64_t directory, end; /* offsets of the directory and of its end */
	uint64_t entry, member;  /* offsets of the next entry and the next member */
};

/*
 * Opens an archive that these functions wrote. False for any other: each header must be, byte for
 * byte, what they write for its numbers.
 */
bool sl_zip_open(struct sl_zip *z, const void *file, size_t bytes);

/* The next member and its data; call it n times. False if a header is not as written here. */
bool sl_zip_next(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data);

/*
 * The same for archives of any program that end without a comment: only offsets and sizes are checked, by the
 * directory. Members can be in any order.
 */
bool sl_zip_open_any(struct sl_zip *z, const void *file, size_t bytes);
bool sl_zip_next_any(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data);

/* After the last member: whether no bytes are left before the directory and before its end. */
bool sl_zip_ends(const struct sl_zip *z);

#endif
