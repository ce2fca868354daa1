/*
 * pipeline.h - times one batch from particles to sorted columns, by each mode and by CUB's calls.
 */
#ifndef SL_BENCH_COMMANDS_PIPELINE_H
#define SL_BENCH_COMMANDS_PIPELINE_H

#include "bench/cells/bench.h"

/* Measures batches of n particles and adds the rows to b->table. */
enum sl_status sl_pipeline_row(struct sl_bench *b, uint32_t n);

/* Prints the names of the columns. */
void sl_pipeline_heading(void);

enum sl_status sl_bench_pipeline(struct sl_bench *b);

#endif
