/* gzip_stored.h - a gzip member that holds bytes as they are, for what does not gain by deflate. */
#ifndef SL_STAGES_FORMATS_COMMON_GZIP_STORED_H
#define SL_STAGES_FORMATS_COMMON_GZIP_STORED_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the member that holds so many: a header, blocks of up to 65535 bytes, and the end.
 */
static inline size_t sl_gzip_stored_bytes(size_t bytes)
{
	return 10 + 5 * (bytes == 0 ? 1 : (bytes - 1) / UINT16_MAX + 1) + bytes + 8;
}

/* Makes it in out, which does not overlap in; returns its bytes. (RFC 1951, 3.2.4; RFC 1952.) */
size_t sl_gzip_store(const void *in, size_t bytes, uint8_t *out);

#endif
