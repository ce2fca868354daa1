/*
 * temp_dir.h - a directory for temporary files, created and removed by the comparison.
 *
 * The directory must not exist before. So all files in it belong to the comparison and can be
 * removed safely.
 */
#ifndef SL_PIPELINE_COMPARE_CASES_TEMP_DIR_H
#define SL_PIPELINE_COMPARE_CASES_TEMP_DIR_H

#include <stddef.h>

#include "primitives/files/dirs.h"

struct sl_temp_dir {
	struct sl_dir dir;
	char path[SL_PATH_BYTES];
	size_t existing; /* length of the part of path that existed before */
};

/* Creates path and its parents. SL_OUTPUT_IN_USE if path exists. */
enum sl_status sl_temp_dir_open(const char *path, struct sl_temp_dir *p);

/* Removes all files in dir. */
enum sl_status sl_temp_dir_empty(const struct sl_dir *dir);

/* Removes the files and the created directories. Call it also after a failure. */
enum sl_status sl_temp_dir_close(struct sl_temp_dir *p);

#endif
