/* zlib_inflate.h - decompression by zlib, the reference for streams. */
#ifndef SL_TESTS_SUPPORT_FORMATS_ZLIB_INFLATE_H
#define SL_TESTS_SUPPORT_FORMATS_ZLIB_INFLATE_H

#include <zlib.h>

#include "primitives/primitives.h"

/*
 * Returns the size, or -1 if zlib refuses the stream, bytes follow it, or it exceeds the room.
 * members: of gzip, several.
 */
static inline long zlib_inflate(
	enum sl_wrapper wrapper, bool members, const void *in, size_t size, void *to, size_t room)
{
	const int window = wrapper == SL_RAW ? -15 : wrapper == SL_ZLIB ? 15 : 15 + 16;
	z_stream z = {.next_in = (z_const Bytef *)in, .avail_in = (uInt)size};
	int answer = inflateInit2(&z, window);

	z.next_out = (Bytef *)to;
	z.avail_out = (uInt)room;
	if (answer == Z_OK)
		answer = inflate(&z, Z_FINISH);
	while (answer == Z_STREAM_END && members && z.avail_in > 0) {
		inflateReset(&z);
		answer = inflate(&z, Z_FINISH);
	}
	inflateEnd(&z);
	return answer == Z_STREAM_END && z.avail_in == 0 ? (long)(room - z.avail_out) : -1;
}

#endif
