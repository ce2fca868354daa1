/* csv_read.h - reads the columns of a csv or csv.gz file. */
#ifndef SL_STAGES_FORMATS_TABLES_CSV_READ_H
#define SL_STAGES_FORMATS_TABLES_CSV_READ_H

#include "stages/formats/common/format.h"

/* Files that this program wrote (format.h, read). */
enum sl_status sl_csv_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);
enum sl_status sl_csv_gz_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/*
 * Files of any program, plain or in gzip: a line of names and lines of numbers in any spelling, divided by
 * comma, semicolon or tab, by that of the first line. Read are the columns of a list of particles (sl_list_column()),
 * in any order. A number that its column cannot hold is SL_BAD_INPUT.
 */
enum sl_status sl_csv_read_any(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* Whether text, plain or in gzip, has an energy, but not the spelling of this program. */
bool sl_csv_is_any(const void *file, size_t bytes);

#endif
