/*
 * streams.c - streams of the C library (fopencookie(3)) that write a file, collect a text, and
 * replace stdout.
 */
#include "pipeline/text/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/base/printable.h"
#include "primitives/files/files.h"

/* --- a file ----------------------------------------------------------------------------------- */

/* Called when the buffer is full and at the end. A result of 0 is an error for fopencookie(3). */
static ssize_t write_to_file(void *file, const char *bytes, size_t n)
{
	struct sl_text_file *f = (struct sl_text_file *)file;

	f->crc = sl_crc32_update(f->crc, bytes, n);
	if (f->status == SL_OK)
		f->status = sl_file_add(&f->w, bytes, n);
	return f->status == SL_OK ? (ssize_t)n : 0;
}

enum sl_status sl_text_file_begin(
	struct sl_text_file *f, const struct sl_dir *dir, const char *name)
{
	f->status = SL_OK;
	f->crc = 0;
	SL_TRY(sl_file_begin(dir, name, &f->w));
	f->out = fopencookie(f, "w", (cookie_io_functions_t){.write = write_to_file});
	if (f->out) {
		setvbuf(f->out, f->buffer, _IOFBF, sizeof(f->buffer));
		return SL_OK;
	}
	sl_file_drop(&f->w);
	return sl_fail(SL_HOST_MEMORY,
		"%s: no memory for a stream that writes the file; close other programs", name);
}

uint32_t sl_text_file_crc(struct sl_text_file *f)
{
	fflush(f->out);
	return f->crc;
}

/* fclose() writes the rest of the buffer. A failed sl_file_add() has removed the .part file. */
enum sl_status sl_text_file_commit(struct sl_text_file *f)
{
	fclose(f->out);
	return f->status == SL_OK ? sl_file_end(&f->w, true) : f->status;
}

/* --- a text in memory ------------------------------------------------------------------------- */

/* Makes space for n bytes and a 0 after the text. */
static bool grow(struct sl_text_memory *t, size_t n)
{
	size_t space = t->space > 0 ? t->space : sizeof(t->buffer);
	char *text;

	if (n >= SIZE_MAX / 2 - t->bytes)
		return false;
	while (space <= t->bytes + n)
		space *= 2;
	if (space == t->space)
		return true;
	text = (char *)realloc(t->text, space);
	if (!text)
		return false;
	t->text = text;
	t->space = space;
	return true;
}

/* Called when the buffer is full and at the end. A result of 0 is an error for fopencookie(3). */
static ssize_t write_to_memory(void *memory, const char *bytes, size_t n)
{
	struct sl_text_memory *t = (struct sl_text_memory *)memory;

	t->failed = t->failed || !grow(t, n);
	if (t->failed)
		return 0;
	memcpy(t->text + t->bytes, bytes, n);
	t->bytes += n;
	t->text[t->bytes] = '\0';
	return (ssize_t)n;
}

enum sl_status sl_text_memory_begin(struct sl_text_memory *t)
{
	t->text = NULL;
	t->bytes = t->space = 0;
	t->failed = false;
	t->out = fopencookie(t, "w", (cookie_io_functions_t){.write = write_to_memory});
	if (!t->out)
		return sl_fail(SL_HOST_MEMORY,
			"host memory: there is none for a text stream; close other programs");
	setvbuf(t->out, t->buffer, _IOFBF, sizeof(t->buffer));
	return SL_OK;
}

enum sl_status sl_text_memory_end(
	struct sl_text_memory *t, const char *what, char **text, size_t *bytes)
{
	fclose(t->out);
	if (!t->failed && grow(t, 0)) {
		t->text[t->bytes] = '\0'; /* also of an empty text */
		*text = t->text;
		*bytes = t->bytes;
		return SL_OK;
	}
	free(t->text);
	*text = NULL;
	*bytes = 0;
	return sl_fail(SL_HOST_MEMORY,
		"%s: host memory: there is none for its text; close other programs", what);
}

/* --- stdout ----------------------------------------------------------------------------------- */

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
