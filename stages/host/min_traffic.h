/*
 * min_traffic.h - the least that a stage must read and write: what its time is held against.
 */
#ifndef SL_STAGES_HOST_MIN_TRAFFIC_H
#define SL_STAGES_HOST_MIN_TRAFFIC_H

#include "stages/host/host_pipeline.h"

/*
 * Bytes that stage s must move for a batch of n particles with that many survivors, each item read
 * and written once: whatever the backend. No stage can be faster than a copy of half as many.
 */
uint64_t sl_stage_min_bytes(
	const struct sl_recipe *r, enum sl_stage_number s, uint64_t n, uint64_t survivors);

#endif
