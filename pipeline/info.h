/* info.h - what is inside a file of survivors. */
#ifndef SL_INFO_H
#define SL_INFO_H

#include <stdio.h>

#include "primitives/base/status.h"

/* Prints a table of the columns in a file of any format that this program writes. */
enum sl_status sl_info(const char *path, FILE *out);

#endif
