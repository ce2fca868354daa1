/*
 * gzip_stored.h - a gzip member that stores bytes without compression.
 *
 * It is used for short headers, which are made where no compressor is at hand. (RFC 1951, 3.2.4;
 * RFC 1952.)
 */
#ifndef SL_STAGES_FORMATS_COMMON_GZIP_STORED_H
#define SL_STAGES_FORMATS_COMMON_GZIP_STORED_H

#include <stddef.h>
#include <stdint.h>

/* Size of the member: a header of 10 bytes, 5 per block of up to 65535 bytes, 8 at the end. */
static inline size_t sl_gzip_stored_bytes(size_t bytes)
{
	return 10 + 5 * (bytes == 0 ? 1 : (bytes - 1) / UINT16_MAX + 1) + bytes + 8;
}

/* Writes the member to out, which must not overlap in; returns its size. */
size_t sl_gzip_store(const void *in, size_t bytes, uint8_t *out);

#endif
