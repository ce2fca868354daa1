/*
 * inflate.h - reading deflated bytes back, piece by piece or whole.
 *
 * zlib's inflate, with its memory from sl_memory_get and every end checked: the stream must end
 * where the input ends, and its checksum and length must be right.
 */
#ifndef SL_STAGES_FORMATS_COMMON_INFLATE_H
#define SL_STAGES_FORMATS_COMMON_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#define ZLIB_CONST
#include <zlib.h>

#include "primitives/primitives.h"

struct sl_inflate {
	z_stream z;
	const unsigned char *in; /* what zlib has not been given yet */
	size_t left;
	bool ended;
	bool members; /* of gzip: several, one behind the other; set after the begin */
};

/* Begins to inflate the one zlib stream or gzip member that in is. To be ended if SL_OK. */
enum sl_status sl_inflate_begin(
	struct sl_inflate *s, enum sl_wrapper wrapper, const void *in, size_t in_bytes);
void sl_inflate_end(struct sl_inflate *s);

/* Begins again, with other input or the same, in the memory that there is. */
void sl_inflate_again(struct sl_inflate *s, const void *in, size_t in_bytes);

/*
 * Inflates up to size bytes; *got is less only where the stream ends, 0 when it has. SL_BAD_INPUT
 * when it is damaged, cut short or followed by other bytes: *got is what came before that.
 */
enum sl_status sl_inflate_next(struct sl_inflate *s, void *out, size_t size, size_t *got);

/* Inflates the one stream or member that in is, which must give exactly out_bytes. */
enum sl_status sl_inflate_whole(
	enum sl_wrapper wrapper, const void *in, size_t in_bytes, void *out, size_t out_bytes);

#endif
