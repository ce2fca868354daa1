/*
 * table.h - a table of results, written row by row as CSV, as JSON, as both or as neither.
 *
 * Both files start with the origin of the table and end with the list of what was not measured.
 */
#ifndef SL_BENCH_MEASURE_TABLE_H
#define SL_BENCH_MEASURE_TABLE_H

#include <stdio.h>

#include "bench/measure/about.h"
#include "pipeline/text/text.h"
#include "primitives/files/files.h"

/* A value of a row: a text, or a number with its significant digits; NaN: no value. */
struct sl_bench_field {
	const char *name;
	const char *text; /* NULL: a number */
	double number;
	int digits;
};

/* All rows of a table have the same fields. */
struct sl_bench_table {
	FILE *csv, *json;
	char csv_name[SL_PATH_BYTES], json_name[SL_PATH_BYTES];
	size_t rows;
	struct sl_text_memory left_out; /* a line for each measurement that was not made */
};

/* Creates the files; a name NULL: no such file. To be closed even after a failure. */
enum sl_status sl_bench_table_open(
	struct sl_bench_table *t, const struct sl_about *about, const char *csv, const char *json);
enum sl_status sl_bench_table_close(struct sl_bench_table *t);

void sl_bench_table_row(struct sl_bench_table *t, const struct sl_bench_field *field, size_t n);

/* Adds the first line of text to the list of what was not measured. */
void sl_bench_table_leave_out(struct sl_bench_table *t, const char *text);

#endif
