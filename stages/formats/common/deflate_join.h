/*
 * deflate_join.h - makes a raw DEFLATE stream the beginning of a longer one.
 *
 * A stream of any encoder ends with a block that is marked as the last one, at any bit of a byte.
 * The mark is removed, and an empty stored block fills the last byte, so that the next stream can
 * follow at a byte. The mark can only be found by decoding the stream. (The method of gzjoin.c by
 * Mark Adler, in zlib's examples; RFC 1951, 3.2.)
 */
#ifndef SL_STAGES_FORMATS_COMMON_DEFLATE_JOIN_H
#define SL_STAGES_FORMATS_COMMON_DEFLATE_JOIN_H

#include "primitives/primitives.h"

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

#endif
