/* batch_plan.h - the plan of one batch, for the commands that run the whole batch. */
#ifndef SL_BENCH_COMMANDS_BATCH_PLAN_H
#define SL_BENCH_COMMANDS_BATCH_PLAN_H

#include "bench/cells/bench.h"
#include "pipeline/plan/plan.h"

/*
 * Plans one batch of n particles of the configuration --config, on the device in use, in the given
 * mode of run.mode; NULL: the mode of the configuration. The plan is to be freed, even after a
 * failure.
 */
enum sl_status sl_batch_plan_make(
	const struct sl_bench *b, uint32_t n, const char *mode, struct sl_plan **plan);

#endif
