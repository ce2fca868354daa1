/* text.h - text in memory, in files and on terminals */
#ifndef SL_PIPELINE_TEXT_TEXT_H
#define SL_PIPELINE_TEXT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"
#include "primitives/files/files.h"

/* --- printable_stream ------------------------------------------------------------------------- */

/* The standard output of the program, without what a terminal would obey. */

/*
 * Makes all that is written to stdout printable (primitives/base/printable.h), except line breaks
 * and tabs: commands print names and texts that are in files of others. SL_HOST_MEMORY if there is
 * no memory for it.
 */
enum sl_status sl_printable_stdout(void);

/* --- text_file -------------------------------------------------------------------------------- */

/*
 * A stream that writes a file of text below an open directory and commits it.
 *
 * 	struct sl_text_file f;
 *
 * 	SL_TRY(sl_text_file_begin(&f, dir, "run.json"));
 * 	fprintf(f.out, ...);
 * 	return sl_text_file_commit(&f);
 *
 * The memory is a buffer of fixed size, whatever the length of the text. The file replaces an older
 * one atomically: a reader sees the old file or the new one (primitives/files/files.h).
 */

struct sl_text_file {
	FILE *out;               /* the stream; a failure to write is reported by the commit */
	struct sl_file_writer w; /* of the .part file */
	enum sl_status status; /* of the first write that failed; its message is sl_last_error() */
	uint32_t crc;          /* CRC-32 of the bytes that left the buffer */
	char buffer[1 << 15];
};

/* Creates NAME.part. *f must not move until the commit. dir must stay valid until then. */
enum sl_status sl_text_file_begin(
	struct sl_text_file *f, const struct sl_dir *dir, const char *name);

/* CRC-32 of all that was written until now; it empties the buffer. */
uint32_t sl_text_file_crc(struct sl_text_file *f);

/* Ends the file and gives it its name. After a failure there is no .part file. */
enum sl_status sl_text_file_commit(struct sl_text_file *f);

/* --- text_memory ------------------------------------------------------------------------------ */

/*
 * A stream that collects a text in memory and reports when there is none for it.
 *
 * 	struct sl_text_memory t;
 * 	char *text;
 * 	size_t bytes;
 *
 * 	SL_TRY(sl_text_memory_begin(&t));
 * 	fprintf(t.out, ...);
 * 	SL_TRY(sl_text_memory_end(&t, "the manual", &text, &bytes));
 *
 * open_memstream(3) of glibc 2.36 loses a line for which it cannot allocate, and neither ferror()
 * nor fclose() reports it: the text is then incomplete without an error.
 */

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

/* --- version ---------------------------------------------------------------------------------- */

/* Which program this is. */

/* The version, "0.1.0". */
const char *sl_version(void);

/*
 * The git commit at the time of configuration, with "-dirty" if files were changed; or "unknown".
 */
const char *sl_commit(void);

#endif
