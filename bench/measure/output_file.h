/* output_file.h - creates and closes the files that sluice-bench writes. */
#ifndef SL_BENCH_MEASURE_OUTPUT_FILE_H
#define SL_BENCH_MEASURE_OUTPUT_FILE_H

#include <stdio.h>

#include "primitives/base/status.h"

/* Creates the file name; *f is NULL after a failure. */
enum sl_status sl_output_create(const char *name, FILE **f);

/* Closes *f, unless it is NULL, and sets it to NULL. Fails if a write to the file has failed. */
enum sl_status sl_output_close(const char *name, FILE **f);

#endif
