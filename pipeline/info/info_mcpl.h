/* info_mcpl.h - what an MCPL file contains. */
#ifndef SL_PIPELINE_INFO_INFO_MCPL_H
#define SL_PIPELINE_INFO_INFO_MCPL_H

#include <stdio.h>

#include "primitives/base/status.h"

/* Prints the header, comments, blobs and statistics of any MCPL file. */
enum sl_status sl_info_mcpl(const char *path, FILE *out);

#endif
