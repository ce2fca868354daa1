/*
 * fuzz.h - helpers of the libFuzzer targets.
 *
 * Each target is one file: tests/fuzz/TARGET.c with the folder corpus/TARGET of small valid inputs.
 * scripts/fuzz.sh links it with the library, AddressSanitizer and UndefinedBehaviorSanitizer. A reader
 * must not crash, leak, hang or read beyond the end, and must return SL_OK or a status for bad input.
 */
#ifndef SL_TESTS_FUZZ_FUZZ_H
#define SL_TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/base/arena.h"
#include "primitives/files/crc32.h"
#include "primitives/files/dirs.h"
#include "stages/formats/common/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if the condition is false; libFuzzer reports this with the input. */
static inline void fuzz_expect(bool holds)
{
	if (!holds)
		abort();
}

/* Expects a status that a reader may return for any bytes; a failure must have a message. */
static inline void fuzz_check(enum sl_status s)
{
	fuzz_expect(s == SL_OK || s == SL_BAD_INPUT || s == SL_USAGE || s == SL_CHECK_FAILED);
	fuzz_expect(s == SL_OK || sl_last_error()[0] != '\0');
}

/*
 * Largest table that is read, in bytes and rows; larger ones are only measured. DEFLATE expands up to a thousand
 * times, and the digest of a constant column takes a nanosecond per row.
 */
enum { FUZZ_TABLE_MOST = 1 << 24, FUZZ_ROWS_MOST = 1 << 16 };

/* The type of sl_format.read. */
typedef enum sl_status fuzz_reader(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* Measures a table, then reads it to memory of exactly that size. */
static inline void fuzz_read_table(fuzz_reader *read, const uint8_t *data, size_t size)
{
	struct sl_arena a = {0};
	struct sl_table t;
	enum sl_status s = read(data, size, &a, &t);

	fuzz_check(s);
	if (s != SL_OK || a.used > FUZZ_TABLE_MOST || t.n > FUZZ_ROWS_MOST)
		return;
	a.size = sl_round_up(a.used + 1, SL_ALIGN);
	a.base = aligned_alloc(SL_ALIGN, a.size);
	a.used = 0;
	if (a.base)
		fuzz_check(read(data, size, &a, &t));
	free(a.base);
}

/* A target that only reads tables. */
#define FUZZ_TABLES(read)                                            \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
	{                                                            \
		fuzz_read_table(read, data, size);                   \
		return 0;                                            \
	}

/* Replaces the eight digits at a place by the checksum of a text: libFuzzer does not find the right one. */
static inline void fuzz_put_crc(char *at, const void *text, size_t bytes)
{
	char digits[9];

	snprintf(digits, sizeof(digits), "%08x", (unsigned)sl_crc32(text, bytes));
	memcpy(at, digits, 8);
}

/* An empty folder in memory, the same in each call of a process; it is removed at the end. */
static char fuzz_path[] = "/dev/shm/sluice-fuzz-XXXXXX";
static struct sl_dir fuzz_dir = {.fd = -1};

static inline void fuzz_remove_folder(void)
{
	char command[sizeof(fuzz_path) + 16];

	sl_dir_close(&fuzz_dir);
	snprintf(command, sizeof(command), "rm -r %s", fuzz_path);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", fuzz_path);
}

/* Writes a file to the folder, which is open as fuzz_dir. */
static inline void fuzz_write(const char *name, const void *data, size_t size)
{
	int file;

	if (fuzz_dir.fd < 0) {
		fuzz_expect(
			mkdtemp(fuzz_path) && sl_dir_open(fuzz_path, false, &fuzz_dir) == SL_OK);
		atexit(fuzz_remove_folder);
	}
	file = openat(fuzz_dir.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_expect(file >= 0 && write(file, data, size) == (ssize_t)size);
	close(file);
}

#endif
