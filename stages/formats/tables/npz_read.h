/* npz_read.h - reads the columns of an npz file that this program wrote (format.h, read). */
#ifndef SL_STAGES_FORMATS_TABLES_NPZ_READ_H
#define SL_STAGES_FORMATS_TABLES_NPZ_READ_H

#include "stages/formats/common/format.h"

enum sl_status sl_npz_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
