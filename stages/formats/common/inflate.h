/*
 * inflate.h - decompresses DEFLATE data, a part at a time or all at once.
 *
 * It is ISA-L's inflate with memory from sl_memory_get(), and with a check of each end: a stream
 * must end where the input ends (but for zero bytes after gzip members), and its checksum and
 * length must be right.
 */
#ifndef SL_STAGES_FORMATS_COMMON_INFLATE_H
#define SL_STAGES_FORMATS_COMMON_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/primitives.h"

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

/* Starts to decompress one stream with that wrapper. After SL_OK, call sl_inflate_end(). */
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

#endif
