/* commands.h - the commands of sluice-bench. */
#ifndef SL_BENCH_COMMANDS_COMMANDS_H
#define SL_BENCH_COMMANDS_COMMANDS_H

#include "bench/cells/cells.h"
#include "pipeline/plan/plan.h"

/* The plan of one batch, for the commands that run the whole batch. */

/*
 * Plans one batch of n particles of the configuration --config, on the device in use, in the given
 * mode of run.mode; NULL: the mode of the configuration. The plan is to be freed, even after a
 * failure.
 */
enum sl_status sl_batch_plan_make(
	const struct sl_bench *b, uint32_t n, const char *mode, struct sl_plan **plan);

/* Times the compression of the columns of a batch on the device. */

enum sl_status sl_bench_deflate(struct sl_bench *b);

/* Times one batch from particles to sorted columns, by each mode and by CUB's calls. */

enum sl_status sl_bench_pipeline(struct sl_bench *b);

/* Every combination of sizes, types, inputs and tunings that the options name. */

enum sl_status sl_bench_primitives(struct sl_bench *b);

/* Measures the whole data set of a device into a folder, within a time limit. */

enum sl_status sl_bench_sweep(struct sl_bench *b);

/* Finds the fastest block and items of each backend and prints them. */

enum sl_status sl_bench_tune(struct sl_bench *b);

#endif
