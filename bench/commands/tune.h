/* tune.h - finds the fastest block and items of each backend and prints them. */
#ifndef SL_BENCH_COMMANDS_TUNE_H
#define SL_BENCH_COMMANDS_TUNE_H

#include "bench/cells/bench.h"

enum sl_status sl_bench_tune(struct sl_bench *b);

#endif
