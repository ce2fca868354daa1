/* replay.h - the history of one particle of a run, printed as it is made. */
#ifndef SL_PIPELINE_REPLAY_REPLAY_H
#define SL_PIPELINE_REPLAY_REPLAY_H

#include <stdio.h>

#include "pipeline/plan/plan.h"

/*
 * Whatever of a configuration says where and how to compute is put back to the CPU and auto: no bit
 * of a history depends on it, and the machine may lack the run's device.
 */
void sl_replay_settle(struct sl_config *c);

/*
 * Prints the start and each step of the particle id, and the random words of each, and how it
 * ended: as text, or as one object of JSON whose numbers read back to the same bits. config is the
 * name of the plan's file. SL_USAGE when the run has no such particle. No memory is got, however
 * long the history is.
 */
enum sl_status sl_replay(
	struct sl_plan *plan, const char *config, uint64_t id, bool json, FILE *out);

#endif
