/* csv_read.h - reads the columns of a csv or csv.gz file that this program wrote (format.h, read). */
#ifndef SL_STAGES_FORMATS_TABLES_CSV_READ_H
#define SL_STAGES_FORMATS_TABLES_CSV_READ_H

#include "stages/formats/common/format.h"

enum sl_status sl_csv_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);
enum sl_status sl_csv_gz_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
