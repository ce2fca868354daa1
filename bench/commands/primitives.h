/* primitives.h - every combination of sizes, types, inputs and tunings that the options name. */
#ifndef SL_BENCH_COMMANDS_PRIMITIVES_H
#define SL_BENCH_COMMANDS_PRIMITIVES_H

#include "bench/cells/bench.h"

enum sl_status sl_bench_primitives(struct sl_bench *b);

#endif
