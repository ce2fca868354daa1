/*
 * flight_loop.h - adds the flights of a step to the scores of a batch
 * (stages/selection/flight_score.h), on the host, and finds bins that are not of equal width: what
 * is computed one lane after the other. score_lanes.h adds the collisions.
 */
#ifndef SL_STAGES_COUNTING_FLIGHT_LOOP_H
#define SL_STAGES_COUNTING_FLIGHT_LOOP_H

#include "stages/batch/loops.h"
#include "stages/selection/grid_rule.h"

/* The flights of the step. */
struct sl_flown {
	float x[SL_LANES_MAX], y[SL_LANES_MAX], z[SL_LANES_MAX], time[SL_LANES_MAX];
	float u[SL_LANES_MAX], v[SL_LANES_MAX], w[SL_LANES_MAX];
	float slowness[SL_LANES_MAX], length[SL_LANES_MAX], end_z[SL_LANES_MAX],
		weight[SL_LANES_MAX];
};

/*
 * Adds the flights of the lanes whose bit is set in moved to the counters of a batch. Once per CPU
 * level.
 */
typedef void sl_flights_loop(const struct sl_recipe *recipe, uint32_t moved,
	const struct sl_flown *lanes, uint64_t *bins);
SL_FOR_MODELS sl_flights_loop SL_EVERY_LEVEL(sl_loop_flights);

/* Sets the bins of the values of all lanes on an axis. Once per CPU level. */
typedef void sl_bins_loop(
	const struct sl_grid_axis_rule *a, const float *edge, const float *value, uint32_t *bin);
SL_FOR_MODELS sl_bins_loop SL_EVERY_LEVEL(sl_loop_bins);

#endif
