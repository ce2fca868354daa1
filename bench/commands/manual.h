/* manual.h - the manual page of sluice-bench and its completion in shells. */
#ifndef SL_BENCH_COMMANDS_MANUAL_H
#define SL_BENCH_COMMANDS_MANUAL_H

#include "pipeline/manual/manual.h"

/* Describes the commands and options of sluice-bench. Every call returns the same object. */
const struct sl_manual *sl_manual_of_bench(void);

#endif
