/* sluice_contender.h - this project's device pipeline, in the mode that the recipe names. */
#ifndef SL_BENCH_CONTENDERS_SLUICE_CONTENDER_H
#define SL_BENCH_CONTENDERS_SLUICE_CONTENDER_H

#include "bench/contenders/contender.h"

extern const struct sl_contender_type sl_sluice_contender;

#endif
