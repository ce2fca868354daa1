/* info.h - what is inside a file of survivors, or of an image's numbers. */
#ifndef SL_INFO_H
#define SL_INFO_H

#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints a table of the columns in a file of any format that this program writes, or of the
 * datasets in NAME.image.h5.
 */
enum sl_status sl_info(const char *path, FILE *out);

#endif
