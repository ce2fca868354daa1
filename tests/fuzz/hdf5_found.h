/*
 * hdf5_found.h - replaces the functions that parse an HDF5 file in a child process (hdf5_child.h).
 *
 * A crafted file can make the child return any bytes. A target therefore passes arbitrary bytes, as the result
 * of the child, to the code that runs in the program itself. HDF5's own parser is not fuzzed: it is expected to
 * crash, in the child (tests/property/tables.c).
 */
#ifndef SL_TESTS_FUZZ_HDF5_FOUND_H
#define SL_TESTS_FUZZ_HDF5_FOUND_H

#include <string.h>

#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "tests/fuzz/fuzz.h"

/* Several targets can be linked to one program (property/fuzz.c), which then has one copy of what follows. */
#define FUZZ_SHARED __attribute__((weak))

/* What the child returns: these bytes, then zeros. */
FUZZ_SHARED const uint8_t *fuzz_found;
FUZZ_SHARED size_t fuzz_found_bytes;

FUZZ_SHARED enum sl_status sl_h5_in_child(
	sl_h5_reader *read, const void *file, size_t bytes, size_t size, void **found)
{
	(void)read, (void)file, (void)bytes;
	*found = aligned_alloc(SL_ALIGN, sl_round_up(size, SL_ALIGN));
	fuzz_expect(*found != NULL);
	memset(*found, 0, size);
	memcpy(*found, fuzz_found, fuzz_found_bytes < size ? fuzz_found_bytes : size);
	return SL_OK;
}

/* Called by hdf5_writer.c, which is linked but not used: no target writes a file. */
FUZZ_SHARED enum sl_status sl_h5_in_free_child(
	sl_h5_reader *read, const void *file, size_t bytes, size_t size, void **found)
{
	(void)read, (void)file, (void)bytes, (void)size, (void)found;
	fuzz_expect(false);
	return SL_INTERNAL;
}

FUZZ_SHARED void sl_h5_set_signals(void)
{
	fuzz_expect(false);
}

FUZZ_SHARED void sl_h5_close_files(int except)
{
	fuzz_expect(except < 0);
}

FUZZ_SHARED void sl_h5_child_free(void *found, size_t size)
{
	(void)size;
	free(found);
}

/*
 * Splits the input into the length of the child's result (two bytes), this result, and the file. Returns the
 * file with its checksum line, which the caller frees, or NULL if the input is too short.
 */
static inline uint8_t *fuzz_split(const uint8_t *data, size_t size, size_t *bytes)
{
	uint8_t *file;

	if (size < 2)
		return NULL;
	fuzz_found = data + 2;
	fuzz_found_bytes = data[0] | (size_t)data[1] << 8;
	if (fuzz_found_bytes > size - 2)
		fuzz_found_bytes = size - 2;
	*bytes = size - 2 - fuzz_found_bytes;
	file = (uint8_t *)malloc(*bytes + SL_CRC_TRAILER_BYTES);
	if (!file)
		return NULL;
	memcpy(file, fuzz_found + fuzz_found_bytes, *bytes);
	sl_crc_trailer_add(file, *bytes);
	*bytes += SL_CRC_TRAILER_BYTES;
	return file;
}

#endif
