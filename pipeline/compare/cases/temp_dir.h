/*
 * temp_dir.h - a folder for files that nobody wants to keep: made for a purpose, gone after it.
 *
 * It must not be there before, so that what is in it can be removed without asking whose it is.
 */
#ifndef SL_PIPELINE_COMPARE_CASES_TEMP_DIR_H
#define SL_PIPELINE_COMPARE_CASES_TEMP_DIR_H

#include <stddef.h>

#include "primitives/files/dirs.h"

struct sl_temp_dir {
	struct sl_dir dir;
	char path[SL_PATH_BYTES];
	size_t kept; /* bytes of path that name a folder which was there before */
};

/* Makes path, and its parents. SL_OUTPUT_IN_USE when it is there already. */
enum sl_status sl_temp_dir_open(const char *path, struct sl_temp_dir *p);

/* Removes the files in it. */
enum sl_status sl_temp_dir_empty(const struct sl_dir *dir);

/* Removes all that was made. To be called after a failure too. */
enum sl_status sl_temp_dir_close(struct sl_temp_dir *p);

#endif
