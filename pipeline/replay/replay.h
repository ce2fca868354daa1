/* replay.h - recomputes the history of one particle of a run and prints it step by step. */
#ifndef SL_PIPELINE_REPLAY_REPLAY_H
#define SL_PIPELINE_REPLAY_REPLAY_H

#include <stdio.h>

#include "pipeline/plan/plan.h"

/*
 * Sets the keys about device, mode and backends to cpu and auto. No bit of a history depends on
 * them, and this machine may lack the device of the run.
 */
void sl_replay_use_cpu(struct sl_config *c);

/*
 * Prints the start and each step of particle id with its random words, then its fate, as text or as
 * one JSON object. Numbers read back to the same bits. config is the file name of the
 * configuration. SL_USAGE if the run has no such particle. The history is in memory until it ends.
 */
enum sl_status sl_replay(
	struct sl_plan *plan, const char *config, uint64_t id, bool json, FILE *out);

#endif
