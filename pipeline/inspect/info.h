/* info.h - what is inside a file of survivors, of an image's numbers, or any MCPL. */
#ifndef SL_PIPELINE_INSPECT_INFO_H
#define SL_PIPELINE_INSPECT_INFO_H

#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints a table of the columns in a file of any format that this program writes, of the datasets
 * in NAME.image.h5, or of what the particles are in any file of MCPL.
 */
enum sl_status sl_info(const char *path, FILE *out);

#endif
