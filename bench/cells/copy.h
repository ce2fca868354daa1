/* copy.h - the time of a copy within device memory, with which primitives are compared. */
#ifndef SL_BENCH_CELLS_COPY_H
#define SL_BENCH_CELLS_COPY_H

#include "bench/cells/bench.h"

/* Times a copy of n words of 4 bytes. */
enum sl_status sl_copy_time(const struct sl_bench *b, uint32_t n, struct sl_call_times *times);

#endif
