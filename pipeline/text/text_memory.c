/* text_memory.c - collects the bytes of a stream of the C library, by fopencookie(3). */
#include "pipeline/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
static ssize_t write_bytes(void *memory, const char *bytes, size_t n)
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
	t->out = fopencookie(t, "w", (cookie_io_functions_t){.write = write_bytes});
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
