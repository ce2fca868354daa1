/*
 * zip.h - the headers of a zip archive: numbers become bytes, and bytes numbers.
 *
 *	local header, data     of each member, one behind the other
 *	directory              an entry for each, with the same again and where it begins
 *	end                    where the directory is
 *
 * Sizes, places and counts that do not fit in the fields of 1989 stand in those of zip64, there
 * and nowhere else. Dates are all 1980-01-01, the first there is: equal content makes equal bytes.
 * Names are plain ASCII. Nothing here touches the data. (PKWARE, APPNOTE.TXT 6.3.9, 4.3 to 4.5.)
 */
#ifndef SL_STAGES_FORMATS_TABLES_ZIP_H
#define SL_STAGES_FORMATS_TABLES_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_ZIP_STORED = 0, SL_ZIP_DEFLATED = 8 };

struct sl_zip_member {
	const char *name; /* of name_bytes, without an end of its own */
	size_t name_bytes;
	uint32_t method;       /* SL_ZIP_STORED or SL_ZIP_DEFLATED */
	uint32_t crc;          /* of the data before it was packed */
	uint64_t packed, size; /* bytes of the data, packed and not */
	uint64_t at;           /* of the local header */
};

/* Room that a header has at most: names of up to 64 bytes. */
enum { SL_ZIP_NAME_MAX = 64, SL_ZIP_HEADER_BYTES = 256, SL_ZIP_END_BYTES = 98 };

/* Makes a header in out, which has room for SL_ZIP_HEADER_BYTES; returns its bytes. */
size_t sl_zip_local(const struct sl_zip_member *m, uint8_t *out);
size_t sl_zip_entry(const struct sl_zip_member *m, uint8_t *out);

/*
 * Makes what stands behind the directory of n entries, which begins at that place and has so many
 * bytes. out has room for SL_ZIP_END_BYTES; returns the bytes.
 */
size_t sl_zip_end(uint64_t n, uint64_t at, uint64_t bytes, uint8_t *out);

/* An archive being read: members in turn, each where the one before it ends. */
struct sl_zip {
	const uint8_t *file;
	uint64_t n;              /* members */
	uint64_t directory, end; /* where that begins and ends */
	uint64_t entry, member;  /* the next of both */
};

/*
 * Finds the directory of an archive that these functions made, and nothing else: every header must
 * be what they make of its numbers, to the byte. False if it is not so.
 */
bool sl_zip_open(struct sl_zip *z, const void *file, size_t bytes);

/* The next member and its data; to be called n times. False if it is not one of ours. */
bool sl_zip_next(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data);

/* Does the last member end where the directory begins, and the last entry where that ends? */
bool sl_zip_ends(const struct sl_zip *z);

#endif
