/* global_sort.h - the command global_sort: times a sort over several devices. */
#ifndef SL_BENCH_COMMANDS_GLOBAL_SORT_H
#define SL_BENCH_COMMANDS_GLOBAL_SORT_H

#include "bench/cells/bench.h"

enum sl_status sl_bench_global_sort(struct sl_bench *b);

#endif
