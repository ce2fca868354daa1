/* seal.c - the line with a file's checksum at its end. */
#include "stages/formats/seal.h"

#include <stdio.h>
#include <string.h>

#include "primitives/base/files.h"

static void print_seal(char line[SL_SEAL_BYTES + 1], const void *file, size_t bytes)
{
	snprintf(line, SL_SEAL_BYTES + 1, "sluice-crc32 %08x\n", (unsigned)sl_crc32(file, bytes));
}

void sl_seal(void *file, size_t bytes)
{
	char line[SL_SEAL_BYTES + 1];

	print_seal(line, file, bytes);
	memcpy((char *)file + bytes, line, SL_SEAL_BYTES);
}

bool sl_is_sealed(const void *file, size_t bytes)
{
	char line[SL_SEAL_BYTES + 1];

	if (bytes < SL_SEAL_BYTES)
		return false;
	bytes -= SL_SEAL_BYTES;
	print_seal(line, file, bytes);
	return memcmp((const char *)file + bytes, line, SL_SEAL_BYTES) == 0;
}
