/* info.h - prints the contents of a file or run directory (sluice info). */
#ifndef SL_PIPELINE_INFO_INFO_H
#define SL_PIPELINE_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Prints the columns of a survivor file, the datasets of NAME.image.h5, the histograms of
 * NAME.tallies, the numbers of any MCPL file, or the fates and columns of a run directory; before
 * columns, the first head particles. SL_BAD_INPUT if the file is damaged.
 */
enum sl_status sl_info(const char *path, uint64_t head, bool json, FILE *out);

#endif
