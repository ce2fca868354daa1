/* crc_trailer.c - see common.h. */
#include "stages/formats/common/common.h"

#include <stdio.h>
#include <string.h>

#include "primitives/files/files.h"

void sl_crc_trailer_print(uint32_t crc, char *line)
{
	char text[SL_CRC_TRAILER_BYTES + 1];

	snprintf(text, sizeof(text), "sluice-crc32 %08x\n", (unsigned)crc);
	memcpy(line, text, SL_CRC_TRAILER_BYTES);
}

void sl_crc_trailer_add(void *file, size_t bytes)
{
	sl_crc_trailer_print(sl_crc32(file, bytes), (char *)file + bytes);
}

bool sl_crc_trailer_is_valid(const void *file, size_t bytes)
{
	char line[SL_CRC_TRAILER_BYTES];

	if (bytes < SL_CRC_TRAILER_BYTES)
		return false;
	bytes -= SL_CRC_TRAILER_BYTES;
	sl_crc_trailer_print(sl_crc32(file, bytes), line);
	return memcmp((const char *)file + bytes, line, SL_CRC_TRAILER_BYTES) == 0;
}
