/* common.h - what several formats need: bytes, streams and text of numbers */
#ifndef SL_STAGES_FORMATS_COMMON_COMMON_H
#define SL_STAGES_FORMATS_COMMON_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "primitives/base/size.h"
#include "primitives/primitives.h"
#include "stages/particle/particle.h"

SL_C_BEGIN

/* --- little_endian ---------------------------------------------------------------------------- */

/*
 * Numbers in files, least significant byte first, at any address.
 *
 * The functions give the same bytes on every machine and need no alignment. Compilers for x86-64
 * make one load or store of them where the number of bytes is a constant.
 */

/* Writes the low bytes of a number, 1 to 8 of them, and returns the address after them. */
static inline uint8_t *sl_put_number(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	return to + bytes;
}

/* Reads a number of 1 to 8 bytes. */
static inline uint64_t sl_get_number(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

/* Whether so many bytes are the text. */
static inline bool sl_is_text(const char *at, size_t bytes, const char *text)
{
	return strlen(text) == bytes && memcmp(text, at, bytes) == 0;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/*
 * A file in memory as a list of byte ranges, so that packed data is not copied.
 *
 * A format's assemble function adds the ranges in the order of the file, and the writer writes them
 * in that order. The list keeps the total size and the CRC-32 of the whole file. It does not own
 * the ranges: they must stay valid until the file is written.
 */

/* The npz format has the most: two per column (header, items), and three more at the end. */
enum { SL_PIECES_MAX = 2 * SL_COLUMN_COUNT + 3 };

struct sl_piece {
	const void *at;
	size_t bytes;
};

struct sl_pieces {
	uint32_t n;
	uint32_t crc; /* of all bytes, as sl_crc32() computes it */
	size_t bytes; /* of all pieces */
	struct sl_piece piece[SL_PIECES_MAX];
};

/* Appends a range. A range that starts where the last one ends in memory extends the last one. */
void sl_pieces_add(struct sl_pieces *f, const void *at, size_t bytes);

/* The same for a range whose CRC-32 is known. */
void sl_pieces_add_known(struct sl_pieces *f, const void *at, size_t bytes, uint32_t crc);

/* Copies all ranges, one after another, to a block of f->bytes bytes. */
void sl_pieces_join(const struct sl_pieces *f, void *to);

/* --- transfer_form ---------------------------------------------------------------------------- */

/*
 * The form in which survivors are copied from a device, and what a format needs.
 *
 * Survivors are columns. A device can make records of them, for a format that is a list of
 * records, and can compress columns or records to DEFLATE streams (stages/device/pack.h). Then only
 * the records or streams are copied to the host, and the host threads have less to compress.
 */

enum sl_transfer_form {
	SL_AS_COLUMNS, /* columns, uncompressed */
	SL_AS_RECORDS, /* one record per row, uncompressed */
	SL_AS_STREAMS  /* DEFLATE streams of single columns, or of all records */
};

/* What a device can pack for a format. All 0: nothing. */
struct sl_device_packing {
	bool records;            /* files consist of records; else of columns */
	size_t chunk_bytes;      /* maximum size of a stream before compression; 0: no streams */
	enum sl_wrapper wrapper; /* of the streams */
	bool constants;          /* constant columns are expanded to all rows and compressed too */
	bool planes;             /* bytes of items are shuffled as HDF5's filter does, and the last
	                            chunk of a column is padded with zeros */
};

/* Whether host threads have nothing left to compress. */
static inline bool sl_is_device_packed(
	const struct sl_device_packing *p, enum sl_transfer_form form)
{
	return form == SL_AS_STREAMS || (form == SL_AS_RECORDS && p->chunk_bytes == 0);
}

/* Rows per chunk of an array of n > 0 rows of item_bytes each: all n, or as many as fit. */
static inline uint32_t sl_chunk_items(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	size_t most = chunk_bytes / item_bytes;

	return n < most ? n : (uint32_t)most;
}

/* --- inflate ---------------------------------------------------------------------------------- */

/*
 * Decompresses DEFLATE data, a part at a time or all at once.
 *
 * It is ISA-L's inflate with memory from sl_memory_get(), and with a check of each end: a stream
 * must end where the input ends (but for zero bytes after gzip members), and its checksum and
 * length must be right.
 */

/*
 * DEFLATE expands at most 1032 times. A file that claims to hold more than this many times its size
 * is damaged; the check prevents large allocations because of a damaged size.
 */
enum { SL_INFLATE_RATIO_MAX = 1100 };

/*
 * At least the bytes that are allocated for a stream: the state of ISA-L, with a buffer of 64 KiB.
 */
enum { SL_INFLATE_BYTES = 88 << 10 };

struct sl_inflate {
	struct inflate_state *state; /* of ISA-L */
	const uint8_t *in;           /* input that ISA-L has not received yet */
	size_t left;                 /* its size in bytes */
	bool ended;
	const char *damage; /* what was wrong with the stream, or NULL */
	/* The input is several gzip members, and zero bytes after them are ignored; to be set after
	 * sl_inflate_begin(). */
	bool members;
};

/* Whether the first bytes of a file are those of gzip. */
static inline bool sl_is_gzip(const void *file, size_t bytes)
{
	return bytes >= 2 && memcmp(file, "\x1f\x8b", 2) == 0;
}

/* Starts to decompress one stream with that wrapper. Call sl_inflate_end() then; twice is no fault. */
enum sl_status sl_inflate_begin(
	struct sl_inflate *s, enum sl_wrapper wrapper, const void *in, size_t in_bytes);
void sl_inflate_end(struct sl_inflate *s);

/* Starts again with the same or other input, without a new allocation. */
void sl_inflate_again(struct sl_inflate *s, const void *in, size_t in_bytes);

/*
 * Decompresses up to size bytes. *got is less than size only where the stream ends, and 0 after
 * that. SL_BAD_INPUT if the stream is damaged, cut short or followed by other bytes; *got then
 * counts the bytes before the damage, and each later call fails as well.
 */
enum sl_status sl_inflate_next(struct sl_inflate *s, void *out, size_t size, size_t *got);

/* Decompresses one stream that must expand to exactly out_bytes. */
enum sl_status sl_inflate_whole(
	enum sl_wrapper wrapper, const void *in, size_t in_bytes, void *out, size_t out_bytes);

/* --- gzip_stored ------------------------------------------------------------------------------ */

/*
 * A gzip member that stores bytes without compression.
 *
 * It is used for short headers, which are made where no compressor is at hand. (RFC 1951, 3.2.4;
 * RFC 1952.)
 */

/* Size of the member: a header of 10 bytes, 5 per block of up to 65535 bytes, 8 at the end. */
static inline size_t sl_gzip_stored_bytes(size_t bytes)
{
	return 10 + 5 * (bytes == 0 ? 1 : (bytes - 1) / UINT16_MAX + 1) + bytes + 8;
}

/* Writes the member to out, which must not overlap in; returns its size. */
size_t sl_gzip_store(const void *in, size_t bytes, uint8_t *out);

/* --- deflate_join ----------------------------------------------------------------------------- */

/*
 * Makes a raw DEFLATE stream the beginning of a longer one.
 *
 * A stream of any encoder ends with a block that is marked as the last one, at any bit of a byte.
 * The mark is removed, and an empty stored block fills the last byte, so that the next stream can
 * follow at a byte. The mark can only be found by decoding the stream. (The method of gzjoin.c by
 * Mark Adler, in zlib's examples; RFC 1951, 3.2.)
 */

/* Most bytes that are appended to a stream. */
enum { SL_DEFLATE_JOIN_BYTES = 5 };

/* Bytes of scratch for a stream that expands to so many bytes. */
size_t sl_deflate_join_scratch(size_t expanded);

/*
 * Changes the stream of *bytes bytes, after which there is room for SL_DEFLATE_JOIN_BYTES more, and
 * sets *bytes. It expands to so many bytes.
 */
enum sl_status sl_deflate_join(
	struct sl_arena scratch, uint8_t *stream, size_t *bytes, size_t expanded);

/* Ends a stream of joined ones: an empty block that is marked as the last one. */
extern const uint8_t sl_deflate_end[2];

/* --- crc_trailer ------------------------------------------------------------------------------ */

/*
 * A checksum line at the end of a binary file, checked before the file is parsed.
 *
 *	sluice-crc32 89abcdef
 *
 * HDF5's reader is not safe on damaged files: it follows sizes and addresses out of bounds.
 * Therefore no file is passed to HDF5 before its checksum is verified. The line follows the end of
 * file that HDF5 knows, so HDF5 ignores it; a program that changes the file with HDF5 removes it.
 * The checksum detects accidental damage, not forgery.
 */

/* "sluice-crc32 ", eight digits, a newline. */
enum { SL_CRC_TRAILER_BYTES = 22 };

/* Writes the line for a given CRC-32: SL_CRC_TRAILER_BYTES bytes, no terminator. */
void sl_crc_trailer_print(uint32_t crc, char *line);

/* Computes the CRC-32 of the first bytes of file and writes the line after them. */
void sl_crc_trailer_add(void *file, size_t bytes);

/* Whether a file of so many bytes, the line included, ends with the correct line. */
bool sl_crc_trailer_is_valid(const void *file, size_t bytes);

/* --- decimal ---------------------------------------------------------------------------------- */

/*
 * Numbers as decimal text and back.
 *
 * A float is printed with the fewest digits that read back to the same float, even if the reader
 * first converts to double, as Python and JavaScript do: 0.1, 3.1415927, -1.5e-7, inf, nan. Among
 * the texts with that many digits it is the nearest to the float.
 *
 * Printing multiplies by a 64-bit approximation of a power of ten, as Grisu does (Loitsch, Printing
 * floating-point numbers quickly and accurately with integers, 2010). The relative error is 2^-57,
 * while the midpoint between neighbouring floats is 2^-25 away. A text within that error of a
 * midpoint gets one more digit; nine digits are always far enough from a midpoint. The C library
 * has no function that finds the fewest digits. std::to_chars (libstdc++ 12) is not used, because
 * 0.41 % of random floats would get other digits: it accepts a text that is exactly a midpoint
 * (3.543263e7 for 35432632), and of two texts that are equally near it takes the even one.
 *
 * A text is read, and then printed again: it is accepted only if the result is the same.
 */

/* The longest float ("-1.17549435e-38", "-0.000123456789") and the longest u64. */
enum { SL_F32_TEXT_BYTES = 15, SL_U64_TEXT_BYTES = 20 };

/*
 * The powers of ten in use: printing 1.4e-45 multiplies by 10^53, and printing 3e38 by 10^-31
 * first, because its number of digits is only estimated.
 */
enum { SL_POWER_LEAST = -31, SL_POWER_MAX = 53 };

/* 10^k is about power[k - SL_POWER_LEAST] * 2^(e - 63), e = floor(log2(10^k)); bit 63 is set. */
struct sl_powers {
	uint64_t power[SL_POWER_MAX - SL_POWER_LEAST + 1];
};

/*
 * Fills the table. It is the same for all calls; a thread that prints many numbers makes it once.
 */
void sl_powers_make(struct sl_powers *p);

/* Print without a terminator at most as many bytes as stated above; return how many. */
size_t sl_print_f32(const struct sl_powers *p, float v, char *text);
size_t sl_print_u64(uint64_t v, char *text);

/* Read what these functions print, in exactly that spelling; false for any other text. */
bool sl_parse_f32(const struct sl_powers *p, const char *text, size_t length, float *v);
bool sl_parse_u64(const char *text, size_t length, uint64_t *v);

SL_C_END

#endif
