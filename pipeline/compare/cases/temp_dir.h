/*
 * temp_dir.h - a directory for temporary files, created and removed by the comparison.
 *
 * The directory must not exist before. So all files in it belong to the comparison and can be
 * removed safely.
 */
#ifndef SL_PIPELINE_COMPARE_CASES_TEMP_DIR_H
#define SL_PIPELINE_COMPARE_CASES_TEMP_DIR_H

#include "primitives/files/dirs.h"

/*
 * Creates NAME.compare next to the output directory PARENT/NAME; if PARENT does not exist, in the
 * nearest parent of it that exists. SL_OUTPUT_IN_USE if there is a directory of that name.
 */
enum sl_status sl_temp_dir_open(const char *to, struct sl_dir *dir);

/* Removes the files and the directory, also where memory is lacking. Call it also after a failure. */
enum sl_status sl_temp_dir_close(struct sl_dir *dir);

#endif
