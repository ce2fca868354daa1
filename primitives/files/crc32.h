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

/* CRC-32 of a text that has crc so far (0: empty), continued by these bytes. */
uint32_t sl_crc32_update(uint32_t crc, const void *bytes, size_t size);

/* CRC-32 of two texts joined: the first has crc; the second has next and size bytes. */
uint32_t sl_crc32_combine(uint32_t crc, uint32_t next, size_t size);

SL_C_END

#endif
