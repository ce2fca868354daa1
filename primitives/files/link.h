/*
 * link.h - gives a file a second name in another directory (a hard link): no byte is copied.
 *
 * Calls for SL_FAULT: file_link.
 */
#ifndef SL_PRIMITIVES_FILES_LINK_H
#define SL_PRIMITIVES_FILES_LINK_H

#include <stdbool.h>

#include "dirs.h"

SL_C_BEGIN

/*
 * Links the regular file name of from to the same name in to, which must not exist
 * (SL_OUTPUT_IN_USE). *linked is false if that is not possible, as between two file systems: the
 * caller copies the bytes then. The new name is durable after a later fsync of the directory, such
 * as that of a commit in it.
 */
enum sl_status sl_file_link(
	const struct sl_dir *from, const char *name, const struct sl_dir *to, bool *linked);

SL_C_END

#endif
