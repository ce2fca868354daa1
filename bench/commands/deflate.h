/* deflate.h - times the compression of the columns of a batch on the device. */
#ifndef SL_BENCH_COMMANDS_DEFLATE_H
#define SL_BENCH_COMMANDS_DEFLATE_H

#include "bench/cells/bench.h"

enum sl_status sl_bench_deflate(struct sl_bench *b);

#endif
