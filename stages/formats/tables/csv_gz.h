/* csv_gz.h - what csv_gz.c, which packs, takes from csv_gz_read.c. */
#ifndef SL_STAGES_FORMATS_TABLES_CSV_GZ_H
#define SL_STAGES_FORMATS_TABLES_CSV_GZ_H

#include "stages/formats/common/format.h"

enum sl_status sl_csv_gz_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
