/* info_mcpl.h - what an MCPL file contains. */
#ifndef SL_PIPELINE_INFO_INFO_MCPL_H
#define SL_PIPELINE_INFO_INFO_MCPL_H

#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints the header, comments, sizes of blobs and statistics of any MCPL file, plain or in gzip.
 * SL_BAD_INPUT if the file is damaged; what precedes the damage is then printed.
 */
enum sl_status sl_info_mcpl(const char *path, FILE *out);

#endif
