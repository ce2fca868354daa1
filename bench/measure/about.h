/* about.h - the origin of a table: device, versions, host, command, commit and date. */
#ifndef SL_BENCH_MEASURE_ABOUT_H
#define SL_BENCH_MEASURE_ABOUT_H

#include <stdio.h>

#include "bench/measure/options.h"
#include "primitives/device/device.h"

enum { SL_ABOUT_BYTES = 400, SL_ABOUT_LINES = 6 };
struct sl_about {
	char device[SL_ABOUT_BYTES], cuda[SL_ABOUT_BYTES], host[SL_ABOUT_BYTES];
	char command[SL_ABOUT_BYTES], commit[SL_ABOUT_BYTES], date[SL_ABOUT_BYTES];
};

/* cccl: the version of CUB in the form of CCCL_VERSION, 3000001 for 3.0.1; 0: built without CUB. */
void sl_about_make(const struct sl_bench_options *options, const struct sl_device *device, int cccl,
	struct sl_about *about);

/* Name and text of line i; false if i is past the last line. */
bool sl_about_line(const struct sl_about *about, size_t i, const char **name, const char **text);

/* Prints each line as "# name: text". */
void sl_about_print(const struct sl_about *about, FILE *out);

#endif
