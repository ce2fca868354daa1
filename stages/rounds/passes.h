/* passes.h - the work of a filter on the host (resample.h). */
#ifndef SL_STAGES_ROUNDS_PASSES_H
#define SL_STAGES_ROUNDS_PASSES_H

#include "stages/rounds/resample.h"

sl_filter_loop SL_EVERY_LEVEL(sl_loop_filter);

#endif
