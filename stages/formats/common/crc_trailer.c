/* crc_trailer.c - the line with a file's checksum at its end. */
#include "stages/formats/common/crc_trailer.h"

#include <stdio.h>
#include <string.h>

#include "primitives/base/files.h"

void sl_seal_print(uint32_t crc, char *line)
{
	char text[SL_SEAL_BYTES + 1];

	snprintf(text, sizeof(text), "sluice-crc32 %08x\n", (unsigned)crc);
	memcpy(line, text, SL_SEAL_BYTES);
}

void sl_seal(void *file, size_t bytes)
{
	sl_seal_print(sl_crc32(file, bytes), (char *)file + bytes);
}

bool sl_is_sealed(const void *file, size_t bytes)
{
	char line[SL_SEAL_BYTES];

	if (bytes < SL_SEAL_BYTES)
		return false;
	bytes -= SL_SEAL_BYTES;
	sl_seal_print(sl_crc32(file, bytes), line);
	return memcmp((const char *)file + bytes, line, SL_SEAL_BYTES) == 0;
}
