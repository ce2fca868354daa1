/*
 * fuzz.h - fuzz targets: functions of random bytes.
 *
 *	FUZZ(npz)                                   of targets.def; corpus/npz has small valid inputs
 *	{
 *		fuzz_read_table(sl_npz_read, data, size);
 *	}
 *
 * scripts/fuzz.sh links all of them with the library, libFuzzer, AddressSanitizer and
 * UndefinedBehaviorSanitizer; in a build by any compiler tests/property/fuzz.c calls them. A reader
 * must not crash, leak, hang or read beyond the end, and must return SL_OK or a status for bad
 * input. data ends where memory ends.
 */
#ifndef SL_TESTS_FUZZ_FUZZ_H
#define SL_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/files/files.h"
#include "primitives/primitives.h"
#include "stages/formats/common/format.h"

#define FUZZ(name)                                          \
	void fuzz_##name(const uint8_t *data, size_t size); \
	void fuzz_##name(const uint8_t *data, size_t size)

/* The targets; the last one has no name. */
struct fuzz_target {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);
};
extern const struct fuzz_target fuzz_targets[];

/* Aborts if the condition is false; libFuzzer reports this with the input. */
void fuzz_expect(bool holds);

/*
 * Expects a status that a reader may return for any bytes; a failure must have a message. Returns
 * whether it is SL_OK.
 */
bool fuzz_check(enum sl_status s);

/*
 * A copy of exactly so many bytes, so that AddressSanitizer sees a byte that is read after them; or
 * with a NUL.
 */
void *fuzz_copy(const void *data, size_t size);
char *fuzz_text(const void *data, size_t size);

/*
 * Splits the input into the length of its first part (two bytes), this part and the rest. Returns a
 * copy of the first part, or NULL if the input is too short.
 */
uint8_t *fuzz_split(const uint8_t **data, size_t *size, size_t *length);

enum { FUZZ_ROWS_MOST = 1 << 16 };

/*
 * Measures a table, then reads it to memory of exactly that size. The reader has the type of
 * sl_format.read.
 */
void fuzz_read_table(enum sl_status (*read)(const void *file, size_t bytes, struct sl_arena *a,
			     struct sl_table *t),
	const uint8_t *data, size_t size);

/*
 * Replaces the eight digits at a place by the checksum of a text: libFuzzer does not find the right
 * one.
 */
void fuzz_put_crc(char *at, const void *text, size_t bytes);

/* Writes a file to a folder in memory, fuzz_dir, which is removed at the end of the process. */
extern struct sl_dir fuzz_dir;
void fuzz_write(const char *name, const void *data, size_t size);

/*
 * What the child process that parses an HDF5 file (hdf5_child.h) returns: these bytes, then zeros.
 * A crafted file can make the child return any bytes. HDF5's own parser is not fuzzed: it is
 * expected to crash (tests/property/tables.c).
 */
extern const uint8_t *fuzz_found;
extern size_t fuzz_found_bytes;

#endif
