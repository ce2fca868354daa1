/*
 * mcpl_layout.h - the binary layout of MCPL: header, strings, statistics, packed directions.
 *
 * It applies to files of any program, versions 2 and 3.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_LAYOUT_H
#define SL_STAGES_FORMATS_MCPL_MCPL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The fixed part of a header. */
struct sl_mcpl_header {
	uint32_t version; /* 3, or 2, which packs directions in another way */
	uint64_t particles;
	uint32_t comments, blobs;
	bool flags, polarised, single; /* single: numbers of 4 bytes, not 8 */
	int32_t pdg;                   /* of all particles; 0: each has its own */
	double weight;                 /* of all particles; 0: each has its own */
	uint32_t record_bytes;         /* of one particle */
};

/*
 * Limits of the strings of a header, so that a small file cannot ask for unbounded memory or
 * output. A header beyond them is refused before the string that exceeds them is read.
 */
enum {
	SL_MCPL_STRINGS_MOST = 1 << 20,      /* source, comments, names of blobs and blobs */
	SL_MCPL_STRING_BYTES_MOST = 64 << 20 /* all of them, each with its length */
};

/* The places of the numbers in a record that has all of them; the first ones are polarisations. */
enum { SL_MCPL_POSITION = 3, SL_MCPL_DIRECTION = 6, SL_MCPL_TIME = 9, SL_MCPL_WEIGHT = 10 };

/* Whether the records of a header have number k of these. */
static inline bool sl_mcpl_has_number(const struct sl_mcpl_header *h, int k)
{
	return k < SL_MCPL_POSITION ? h->polarised : k < SL_MCPL_WEIGHT || h->weight == 0;
}

/* The offset in a record of number k, which it has. */
static inline uint32_t sl_mcpl_number_at(const struct sl_mcpl_header *h, int k)
{
	return (uint32_t)(h->polarised ? k : k - SL_MCPL_POSITION) * (h->single ? 4u : 8u);
}

/* The size of a record with these flags, in bytes. */
static inline uint32_t sl_mcpl_record_bytes(const struct sl_mcpl_header *h)
{
	uint32_t numbers = 7u + (h->polarised ? 3u : 0u) + (h->weight != 0 ? 0u : 1u);

	return numbers * (h->single ? 4u : 8u) + (h->pdg != 0 ? 0u : 4u) + (h->flags ? 4u : 0u);
}

/* A record has at most 11 numbers of 8 bytes, a PDG code and user flags. */
enum { SL_MCPL_RECORD_MOST = 11 * 8 + 2 * 4 };

/*
 * The number at that address of a record, of 8 bytes or, if single, of 4. It can have any
 * alignment.
 */
static inline double sl_mcpl_number(bool single, const uint8_t *at)
{
	double wide;
	float narrow;

	if (!single) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return (double)narrow;
}

/* Does a record of one header have the layout of the other? */
bool sl_mcpl_has_same_layout(const struct sl_mcpl_header *a, const struct sl_mcpl_header *b);

/*
 * Writes n records of a header `from`, one after another, with the layout of a header `to`, which
 * is of version 3. Each number keeps its bits, or is converted between 4 and 8 bytes; only a
 * direction of version 2 is packed again. A field that the record lacks is 0; a weight or PDG code
 * is then that of the header `from`.
 */
void sl_mcpl_recode_records(const struct sl_mcpl_header *from, const uint8_t *records, uint32_t n,
	const struct sl_mcpl_header *to, uint8_t *out);

/* Bytes that are written one after another; at = NULL: only counted. */
struct sl_mcpl_buffer {
	uint8_t *at;
	size_t used;
};

void sl_mcpl_write(struct sl_mcpl_buffer *w, const void *from, size_t bytes);
void sl_mcpl_write_u32(struct sl_mcpl_buffer *w, uint32_t value);

/* Writes a string: its length in 4 bytes and its bytes, without a terminator. */
void sl_mcpl_write_text(struct sl_mcpl_buffer *w, const char *text);

/* Writes the fixed part and returns its size in bytes. at = NULL: only returns the size. */
size_t sl_mcpl_put_fixed(uint8_t *at, const struct sl_mcpl_header *h);

/* Strings of a header: the source, the comments, the names of blobs, the blobs. */
uint64_t sl_mcpl_count_strings(const struct sl_mcpl_header *h);

/* A string in a header in memory; it has no terminator. */
struct sl_mcpl_string {
	const uint8_t *at;
	uint32_t length;
};

/* Returns the string whose length is stored at *at, and moves *at past the string. */
struct sl_mcpl_string sl_mcpl_next_string(const uint8_t **at);

bool sl_mcpl_is_same(const struct sl_mcpl_string *a, const struct sl_mcpl_string *b);
bool sl_mcpl_begins_with(const struct sl_mcpl_string *s, const char *text);

/*
 * Orders a and the string b with suffix, a C string, after it: by bytes, a string before its
 * extensions. Sorting by this order finds equal strings in n log n steps for any input, which a
 * hash does not.
 */
int sl_mcpl_order(
	const struct sl_mcpl_string *a, const struct sl_mcpl_string *b, const char *suffix);

/* Characters of the value of a statistic. */
enum { SL_MCPL_VALUE_BYTES = 24 };

/*
 * Whether s is a statistic, stat:sum:KEY:VALUE. If so, sets the offset of the value in s, and the
 * value. (MCPL 2.1: a key has at most 64 letters, digits and _; a value has 24 characters and is
 * -1, which means unknown, or not negative.)
 */
bool sl_mcpl_is_sum(const struct sl_mcpl_string *s, size_t *value_at, double *value);

/* Prints a value in 24 characters, with the fewest of 15 or 17 digits that read back exactly. */
void sl_mcpl_print_value(double value, char text[SL_MCPL_VALUE_BYTES + 1]);

/* Unpacks a direction of version 3: the inverse of sl_mcpl_pack(). */
void sl_mcpl_unpack(const double packed[3], double direction[3]);

/*
 * Unpacks a direction of version 2: packed[0] and packed[1] are octahedral coordinates (Meyer et
 * al. 2010), packed[2] is ignored.
 */
void sl_mcpl_unpack_octahedron(const double packed[3], double direction[3]);

#endif
