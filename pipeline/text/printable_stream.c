/* printable_stream.c - a stream of glibc (fopencookie) in the place of stdout. */
#include "pipeline/text/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "primitives/base/printable.h"

enum { PIECE_BYTES = 4096, CHARACTER_BYTES = 4 };

/* Bytes that wait to be written, and the start of a character whose end is in the next call. */
struct filter {
	char ready[PIECE_BYTES], begun[CHARACTER_BYTES];
	size_t n_ready, n_begun;
};

/* Empties f->ready, also if it fails: the program may go on printing. */
static bool write_ready(struct filter *f)
{
	const size_t bytes = f->n_ready;

	f->n_ready = 0;
	for (size_t at = 0; at < bytes;) {
		ssize_t n = write(STDOUT_FILENO, f->ready + at, bytes - at);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/*
 * Whether the first of n bytes begins a character that is complete, or that the last byte makes
 * invalid.
 */
static bool is_known(const char *text, size_t n)
{
	unsigned char first = (unsigned char)text[0];
	size_t needed = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	return n >= needed || (n > 1 && ((unsigned char)text[n - 1] & 0xc0) != 0x80);
}

/* Moves the first character of f->begun to f->ready, printable. */
static void add(struct filter *f)
{
	char character[CHARACTER_BYTES + 1] = "";
	size_t used = 1;

	memcpy(character, f->begun, f->n_begun);
	if (*character == '\n' || *character == '\t')
		f->ready[f->n_ready++] = *character;
	else
		f->n_ready += sl_printable_next(character, f->ready + f->n_ready, &used);
	f->n_begun -= used;
	memmove(f->begun, f->begun + used, f->n_begun);
}

/* Returns 0 after a failure. */
static ssize_t write_printable(void *cookie, const char *text, size_t n)
{
	struct filter *f = (struct filter *)cookie;

	for (size_t at = 0; at < n; at++) {
		f->begun[f->n_begun++] = text[at];
		while (f->n_begun > 0 && is_known(f->begun, f->n_begun))
			add(f);
		if (f->n_ready > PIECE_BYTES - SL_PRINTABLE_BYTES * CHARACTER_BYTES &&
			!write_ready(f))
			return 0;
	}
	return write_ready(f) ? (ssize_t)n : 0;
}

enum sl_status sl_printable_stdout(void)
{
	static struct filter filter;
	FILE *out = fopencookie(&filter, "w", (cookie_io_functions_t){.write = write_printable});

	if (!out)
		return sl_fail(SL_HOST_MEMORY,
			"host memory: there is none for a stream; close other programs");
	if (isatty(STDOUT_FILENO))
		setvbuf(out, NULL, _IOLBF, 0);
	stdout = out;
	return SL_OK;
}
