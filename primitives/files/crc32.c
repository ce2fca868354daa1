/* crc32.c - see files.h. libdeflate computes the checksum at memory speed; zlib combines two. */
#include "primitives/files/files.h"

#include <libdeflate.h>
#include <zlib.h>

uint32_t sl_crc32(const void *bytes, size_t size)
{
	return libdeflate_crc32(0, bytes, size);
}

uint32_t sl_crc32_update(uint32_t crc, const void *bytes, size_t size)
{
	return libdeflate_crc32(crc, bytes, size);
}

uint32_t sl_crc32_combine(uint32_t crc, uint32_t next, size_t size)
{
	return (uint32_t)crc32_combine(crc, next, (z_off_t)size);
}
