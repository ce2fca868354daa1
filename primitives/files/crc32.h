/*
 * crc32.h - the CRC-32 that gzip, zip and PNG use (ISO 3309, polynomial 0x04c11db7 reflected).
 */
#ifndef SL_PRIMITIVES_FILES_CRC32_H
#define SL_PRIMITIVES_FILES_CRC32_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

/* CRC-32 of size bytes. */
uint32_t sl_crc32(const void *bytes, size_t size);

/* Continues a checksum: crc is that of the bytes before (0 if there are none). */
uint32_t sl_crc32_update(uint32_t crc, const void *bytes, size_t size);

/*
 * CRC-32 of two blocks of bytes joined: crc is that of the first; next and size are of the second.
 */
uint32_t sl_crc32_combine(uint32_t crc, uint32_t next, size_t size);

SL_C_END

#endif
