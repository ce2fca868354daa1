/* status_print.h - prints how far a run is, or the parts in a directory. */
#ifndef SL_PIPELINE_STATUS_STATUS_PRINT_H
#define SL_PIPELINE_STATUS_STATUS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

/*
 * SL_BAD_INPUT if run.json, or that of a part, is damaged; the other parts are printed
 * nevertheless.
 */
enum sl_status sl_status_print(const char *directory, bool json, FILE *out);

#endif
