/*
 * text_file.h - a stream that writes a file of text below an open directory and commits it.
 *
 *	struct sl_text_file f;
 *
 *	SL_TRY(sl_text_file_begin(&f, dir, "run.json"));
 *	fprintf(f.out, ...);
 *	return sl_text_file_commit(&f);
 *
 * The memory is a buffer of fixed size, whatever the length of the text. The file replaces an older
 * one atomically: a reader sees the old file or the new one (primitives/files/files.h).
 */
#ifndef SL_PIPELINE_TEXT_TEXT_FILE_H
#define SL_PIPELINE_TEXT_TEXT_FILE_H

#include <stdio.h>

#include "primitives/files/files.h"

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

#endif
