/* openpmd_check.h - helpers for the tests of openPMD files: format, batch and columns. */
#ifndef SL_TESTS_STAGES_FORMATS_OPENPMD_CHECK_H
#define SL_TESTS_STAGES_FORMATS_OPENPMD_CHECK_H

#include "stages/formats/openpmd/openpmd.h"
#include "tests/stages/formats/format_check.h"
#include "stages/formats/formats.h"

static const struct sl_format *const openpmd = &sl_format_openpmd;
static const struct sl_batch_facts batch = {.number = 17, .first_id = 1700, .generated = 100};
static const sl_column_set few = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_w) |
                                 SL_BIT(SL_COLUMN_fate) | SL_BIT(SL_COLUMN_pixel);

#endif
