/* gzip_stored.c - see common.h. */
#include "stages/formats/common/common.h"

#include <stdbool.h>
#include <string.h>

#include "primitives/files/files.h"

static uint8_t *put_block(uint8_t *to, const uint8_t *from, size_t bytes, bool last)
{
	to = sl_put_number(to, last, 1);
	to = sl_put_number(to, (uint32_t)bytes, 2);
	to = sl_put_number(to, ~(uint32_t)bytes, 2);
	memcpy(to, from, bytes);
	return to + bytes;
}

size_t sl_gzip_store(const void *in, size_t bytes, uint8_t *out)
{
	/* method deflate; no name, no time, operating system unknown */
	static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
	const uint8_t *from = (const uint8_t *)in;
	uint8_t *to = out + sizeof(header);
	size_t left = bytes;

	memcpy(out, header, sizeof(header));
	do {
		size_t n = left < UINT16_MAX ? left : UINT16_MAX;

		left -= n;
		to = put_block(to, from, n, left == 0);
		from += n;
	} while (left > 0);
	to = sl_put_number(to, sl_crc32(in, bytes), 4);
	to = sl_put_number(to, (uint32_t)bytes, 4);
	return (size_t)(to - out);
}
