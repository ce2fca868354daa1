/*
 * text_memory.h - a stream that collects a text in memory and reports when there is none for it.
 *
 *	struct sl_text_memory t;
 *	char *text;
 *	size_t bytes;
 *
 *	SL_TRY(sl_text_memory_begin(&t));
 *	fprintf(t.out, ...);
 *	SL_TRY(sl_text_memory_end(&t, "the manual", &text, &bytes));
 *
 * open_memstream(3) of glibc 2.36 loses a line for which it cannot allocate, and neither ferror()
 * nor fclose() reports it: the text is then incomplete without an error.
 */
#ifndef SL_PIPELINE_TEXT_TEXT_MEMORY_H
#define SL_PIPELINE_TEXT_TEXT_MEMORY_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

struct sl_text_memory {
	FILE *out; /* the stream; lack of memory is reported by sl_text_memory_end() */
	char *text;
	size_t bytes, space;
	bool failed;
	char buffer[1 << 12];
};

/* Opens the stream. *t must not move until the end. */
enum sl_status sl_text_memory_begin(struct sl_text_memory *t);

/*
 * Closes the stream and gives the text, a 0 after its *bytes bytes, to the caller, who frees it
 * with free(). SL_HOST_MEMORY if a part of it was lost; *text is then NULL. what names the text in
 * the message.
 */
enum sl_status sl_text_memory_end(
	struct sl_text_memory *t, const char *what, char **text, size_t *bytes);

#endif
