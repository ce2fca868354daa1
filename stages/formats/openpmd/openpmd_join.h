/* openpmd_join.h - packs the survivors of a whole run, block by block, for one openPMD file. */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_JOIN_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_JOIN_H

#include "stages/formats/common/format.h"

extern const struct sl_format_join sl_openpmd_join;

#endif
