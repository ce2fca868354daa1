/* sweep.h - measures the whole data set of a device into a folder, within a time limit. */
#ifndef SL_BENCH_COMMANDS_SWEEP_H
#define SL_BENCH_COMMANDS_SWEEP_H

#include "bench/cells/bench.h"

enum sl_status sl_bench_sweep(struct sl_bench *b);

#endif
