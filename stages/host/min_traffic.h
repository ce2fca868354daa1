/*
 * min_traffic.h - a lower bound of the memory traffic of each stage, to compare its time with.
 */
#ifndef SL_STAGES_HOST_MIN_TRAFFIC_H
#define SL_STAGES_HOST_MIN_TRAFFIC_H

#include "stages/host/host_pipeline.h"

/*
 * The bytes that stage s must read and write for a batch of n particles, each item once, whatever the
 * backend. A copy of half as many bytes takes at most as long as the stage.
 */
uint64_t sl_stage_min_bytes(
	const struct sl_recipe *r, enum sl_stage_number s, uint64_t n, uint64_t survivors);

#endif
