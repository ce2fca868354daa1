/* tables.h - npz and csv */
#ifndef SL_STAGES_FORMATS_TABLES_TABLES_H
#define SL_STAGES_FORMATS_TABLES_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/size.h"
#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/common/format.h"
#include "stages/particle/table.h"

/* --- zip -------------------------------------------------------------------------------------- */

/*
 * The headers of a zip archive: from numbers to bytes and back.
 *
 * 	local header, data     for each member, one after another
 * 	directory              an entry for each member: the same numbers, and its offset
 * 	end                    the offset of the directory
 *
 * Sizes, offsets and counts that do not fit in the original fields of 16 or 32 bits use those of
 * zip64, and only those do. All dates are 1980-01-01, the earliest possible, so equal content makes
 * equal bytes. Names are ASCII. The functions do not touch the data of members. (PKWARE,
 * APPNOTE.TXT 6.3.9, 4.3 to 4.5.).
 */

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
 * The same for archives of any program that end without a comment: only offsets and sizes are
 * checked, by the directory. Members can be in any order.
 */
bool sl_zip_open_any(struct sl_zip *z, const void *file, size_t bytes);
bool sl_zip_next_any(struct sl_zip *z, struct sl_zip_member *m, const uint8_t **data);

/* After the last member: whether no bytes are left before the directory and before its end. */
bool sl_zip_ends(const struct sl_zip *z);

/* --- npz -------------------------------------------------------------------------------------- */

/*
 * The contents of an npz file: what packing, assembling and reading share.
 *
 * 	id.npy  x.npy  ...     one member per column with all rows, deflated: np.load(f)["x"]
 * 	about.npy              a JSON text that describes the file, as an array of one item:
 * 	                       json.loads(np.load(f)["about"].item())
 *
 * The file is a zip archive (zip.c) of arrays in numpy's format 1.0 (numpy, lib/format.py).
 *
 * Purpose of the folder: formats that store a table as arrays or text, csv, csv.gz and npz. Input:
 * the columns of a batch, or streams that a device packed. Output: byte ranges of a file, or
 * columns.
 */

/* Header of an array before its items: magic, version, length and a line of text, padded. */
enum { SL_NPY_BYTES = 128 };

/* Prints the header of an array of n items of that type. */
void sl_npy_header(char header[SL_NPY_BYTES], enum sl_column_type type, uint32_t n);

/* What follows the name of a column in that of its member: "x.npy". */
#define SL_NPZ_SUFFIX ".npy"

/* How the units begin in the text of about.npy; each column follows as "x": "cm". */
#define SL_NPZ_UNITS "\"units\": {"

#define SL_NPZ_ABOUT "about.npy"

/* --- npz_pack --------------------------------------------------------------------------------- */

/* Compresses the columns of an npz file, or takes streams that a device compressed. */

/* The packed items of one column. */
struct sl_npz_piece {
	enum sl_column column;
	uint32_t method;   /* SL_ZIP_DEFLATED or SL_ZIP_STORED */
	uint32_t crc;      /* of the items before compression */
	const uint8_t *at; /* a raw DEFLATE stream, or the items */
	size_t bytes;
};

/* What sl_packed.pieces points to. */
struct sl_npz_pieces {
	uint32_t n;
	struct sl_npz_piece piece[SL_COLUMN_COUNT];
};

/*
 * A deflated array starts with its header as a stored block, which adds these bytes to the stream
 * (RFC 1951, 3.2.4).
 */
enum { SL_NPZ_BLOCK_BYTES = 5 };

/* As the functions of struct sl_format; the sizes are without the image. */
struct sl_format_sizes sl_npz_sizes(const struct sl_table *most, const struct sl_file_facts *run);
enum sl_status sl_npz_pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed,
	struct sl_packed *p);

/* Items of a column from row from on; those of a constant column are made in room. */
const void *sl_npz_items(const struct sl_table_column *c, uint32_t from, uint32_t n, uint8_t *room);

extern const struct sl_format_join sl_npz_join; /* npz_join.c */

/* --- npz_read --------------------------------------------------------------------------------- */

/* Reads the columns of an npz file that this program wrote (format.h, read). */

enum sl_status sl_npz_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* --- npy -------------------------------------------------------------------------------------- */

/*
 * Reads an array of numpy that any program wrote: magic, version, length of the header (2 bytes, or
 * 4 from version 2 on), the header, a dict of Python with type, order and shape, and the items.
 * (numpy, lib/format.py.)
 */

/* Bytes that are read once and in order, from memory or inflated. */
struct sl_npy_stream {
	const char *advice;    /* the end of each message: "; " and what to do */
	const uint8_t *stored; /* not read yet; NULL: inflated */
	struct sl_inflate z;
	uint64_t left;                      /* bytes not read yet, decompressed; an upper limit */
	const struct sl_zip_member *member; /* NULL: there is no checksum here */
	uint32_t crc;                       /* of what was read of a member */
};

/* The type and the shape of an array. */
struct sl_npy {
	char kind; /* of items: f, i, u or b */
	uint32_t bytes;
	bool big_endian, fortran; /* fortran: the first index is the fastest */
	uint32_t dimensions;
	uint64_t size[3]; /* of the first dimensions */
	size_t n;         /* items, saturated (size.h) */
};

/* Opens the member of an archive. Call sl_npy_close(), which may be called without it. */
enum sl_status sl_npy_open_member(
	struct sl_npy_stream *s, const struct sl_zip_member *m, const uint8_t *data);
void sl_npy_close(struct sl_npy_stream *s);

enum sl_status sl_npy_read(struct sl_npy_stream *s, void *out, size_t bytes);

/* Reads the header; the items must be all that is left. */
enum sl_status sl_npy_read_header(struct sl_npy_stream *s, struct sl_npy *a);

/* After the last item: the stream must end, and a member must match its checksum. */
enum sl_status sl_npy_end(struct sl_npy_stream *s);

/* Reads the type of an array in the spelling of numpy: "<u2". False if it is not one of numbers. */
bool sl_npy_type(const char *text, size_t length, struct sl_npy *a);

/* An item as a double: exact, except integers above 2^53. */
double sl_npy_value(const struct sl_npy *a, const uint8_t *at);

/* The length of the name of a member without .npy; 0 if it does not end so. */
size_t sl_npz_name_length(const struct sl_zip_member *m);

/* The next member of an archive of any program, and that length. */
bool sl_npz_next(struct sl_zip *zip, struct sl_zip_member *m, const uint8_t **data, size_t *length);

/* --- npz_any ---------------------------------------------------------------------------------- */

/*
 * Reads npz files that numpy.savez() or numpy.savez_compressed() wrote: the columns of a list of
 * particles (sl_list_column()), in any order; other arrays are left out. Numbers become those of
 * the columns: reals are rounded to single precision.
 */

/* In the way of sl_format.read. SL_BAD_INPUT also for a number that its column cannot hold. */
enum sl_status sl_npz_read_any(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* Whether a zip archive has an energy, but not the member that all files of this program have. */
bool sl_npz_is_any(const void *file, size_t bytes);

/* --- csv -------------------------------------------------------------------------------------- */

extern const struct sl_format sl_format_csv_gz;

/* --- csv_read --------------------------------------------------------------------------------- */

/* Text in memory, plain or in gzip, line by line. What is in gzip is never stored as a whole. */
struct sl_csv {
	const void *file;
	size_t bytes;
	bool gzipped;
	bool any; /* of any program: blank lines and a mark of UTF-8 are left out, the last line may
	             lack its newline, and fields have nothing around them */
	const char *separators; /* that of a file is the first one in its first line, or the last */
	const char *around;     /* characters around a field; the first one only before it */
	char separator;         /* 0: not known yet */
	uint32_t line;          /* number of the last line, from 1 */
	void *window;           /* of a file in gzip */
	struct sl_inflate z;
	const char *at; /* the text not read yet, in the window or in the file */
	size_t left;
};

/* A line or a field; at = NULL: there is none. */
struct sl_csv_text {
	const char *at;
	size_t length;
};

/* Begins at the first line, also again. The members up to around are set before the first time. */
enum sl_status sl_csv_begin(struct sl_csv *l);
void sl_csv_close(struct sl_csv *l);

/* The next line without its newline, valid until the next call. */
enum sl_status sl_csv_next_line(struct sl_csv *l, struct sl_csv_text *line);

/* Takes the next field of a line; false if there is none. */
bool sl_csv_next_field(struct sl_csv *l, struct sl_csv_text *line, struct sl_csv_text *field);

/*
 * The number of a field, in any spelling; between semicolons it can have a decimal comma. False for
 * other text.
 */
bool sl_csv_number(const struct sl_csv *l, const struct sl_csv_text *field, double *value);

/* Reads the columns of a csv or csv.gz file. */

/* Files that this program wrote (format.h, read). */
enum sl_status sl_csv_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);
enum sl_status sl_csv_gz_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/*
 * Files of any program, plain or in gzip: a line of names and lines of numbers in any spelling,
 * divided by comma, semicolon or tab. Read are the columns of a list of
 * particles (sl_list_column()), in any order. A number that its column cannot hold is SL_BAD_INPUT.
 */
enum sl_status sl_csv_read_any(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* Whether text, plain or in gzip, has an energy, but not the spelling of this program. */
bool sl_csv_is_any(const void *file, size_t bytes);

#endif
