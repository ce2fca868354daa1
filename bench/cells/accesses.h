/*
 * accesses.h - counts the memory accesses of a call on the emulated device, where times mean
 * nothing.
 *
 * Counts are shown per item: primitives/emulator/access.h says what each of them is. A build that
 * does not count (access.h) shows "-".
 */
#ifndef SL_BENCH_CELLS_ACCESSES_H
#define SL_BENCH_CELLS_ACCESSES_H

#include "bench/measure/stopwatch.h"
#include "bench/measure/table.h"
#include "primitives/emulator/access.h"

enum { SL_ACCESS_FIELDS = SL_ACCESS_COUNT_COUNT, SL_ACCESS_TEXT = 128 };

/* Runs a call of the emulated device once and counts its accesses. The device must be idle. */
enum sl_status sl_accesses_count(const struct sl_timed_call *call, struct sl_access_counts *counts);

/* The names of the columns, as wide as the texts below. */
const char *sl_accesses_heading(void);

/* Writes the counts divided by n to text and returns it. */
const char *sl_accesses_text(
	const struct sl_access_counts *counts, double n, char text[SL_ACCESS_TEXT]);

/* The counts divided by n as fields of a table. NULL: a device that does not count; no values. */
void sl_accesses_fields(const struct sl_access_counts *counts, double n,
	struct sl_bench_field field[SL_ACCESS_FIELDS]);

/* Times that are not known, for tables. */
extern const struct sl_call_times sl_no_times;

#endif
