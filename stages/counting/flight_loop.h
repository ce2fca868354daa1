/*
 * flight_loop.h - adds the flights of a step to the scores of a batch (stages/selection/flight_score.h), on
 * the host. score_loop.h adds the collisions.
 */
#ifndef SL_STAGES_COUNTING_FLIGHT_LOOP_H
#define SL_STAGES_COUNTING_FLIGHT_LOOP_H

#include "stages/batch/loops.h"

/* The flights of the step. */
struct sl_flown {
	float x[SL_LANES_MAX], y[SL_LANES_MAX], z[SL_LANES_MAX], time[SL_LANES_MAX];
	float u[SL_LANES_MAX], v[SL_LANES_MAX], w[SL_LANES_MAX];
	float length[SL_LANES_MAX], end_z[SL_LANES_MAX], weight[SL_LANES_MAX];
};

/* Adds the flights of the lanes whose bit is set in moved to the counters of a batch. Once per CPU level. */
typedef void sl_flights_loop(const struct sl_recipe *recipe, uint32_t moved,
	const struct sl_flown *lanes, uint64_t *bins);
sl_flights_loop SL_EVERY_LEVEL(sl_loop_flights);

#endif
