/* openpmd_read.h - reads the columns of an openPMD file that this program wrote (format.h, read). */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_READ_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_READ_H

#include "stages/formats/common/format.h"

enum sl_status sl_openpmd_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
