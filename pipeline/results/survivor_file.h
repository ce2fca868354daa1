/* survivor_file.h - reads a file of survivors completely into memory. */
#ifndef SL_PIPELINE_RESULTS_SURVIVOR_FILE_H
#define SL_PIPELINE_RESULTS_SURVIVOR_FILE_H

#include "primitives/files/dirs.h"
#include "stages/formats/common/format.h"

struct sl_survivors {
	const struct sl_format *format;
	size_t file_bytes;
	struct sl_table table; /* without digests */
	void *block;           /* the memory of the table */
};

/* Read a file; its suffix determines the format. Free s after success. */
enum sl_status sl_survivors_read_path(const char *path, struct sl_survivors *s);
enum sl_status sl_survivors_read(
	const struct sl_dir *dir, const char *name, struct sl_survivors *s);

/* The same for some columns of a file, as sl_table.only names them. */
enum sl_status sl_survivors_read_columns(
	const char *path, const char *only, struct sl_survivors *s);

/* The same for a file in memory; known is that of struct sl_table. */
enum sl_status sl_survivors_of(const struct sl_format *format, const void *file, size_t bytes,
	uint32_t known, struct sl_survivors *s);
void sl_survivors_free(struct sl_survivors *s);

/*
 * Sets *n to the rows of a file of a run, of which only the structure is read: not the packed
 * values, which would take ten times as long as a checksum of the file. Fails if the file cannot be
 * read.
 */
enum sl_status sl_survivors_count(const struct sl_dir *dir, const char *name, uint64_t *n);

#endif
