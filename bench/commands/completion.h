/* completion.h - what sluice-bench completes. */
#ifndef SL_BENCH_COMMANDS_COMPLETION_H
#define SL_BENCH_COMMANDS_COMPLETION_H

#include "pipeline/help/help.h"

extern const struct sl_completed_program sl_completed_bench;

#endif
