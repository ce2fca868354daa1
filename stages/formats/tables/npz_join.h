/* npz_join.h - packs the survivors of a whole run, block by block, for one npz file. */
#ifndef SL_STAGES_FORMATS_TABLES_NPZ_JOIN_H
#define SL_STAGES_FORMATS_TABLES_NPZ_JOIN_H

#include "stages/formats/common/format.h"

extern const struct sl_format_join sl_npz_join;

#endif
