/*
 * score_loop.h - adds the collisions, or the flights, of a step to the scores of a batch
 * (stages/selection/grid.h), on the host.
 *
 * The loop of stages/advance.c calls it after each step of its lanes; on a device stages/counting/score.cuh
 * does the same.
 */
#ifndef SL_STAGES_COUNTING_SCORE_LOOP_H
#define SL_STAGES_COUNTING_SCORE_LOOP_H

#include "stages/batch/loops.h"

/* The particles in the lanes after a step, with their weights before it; r is the distance from the z axis. */
struct sl_stepped {
	float x[SL_LANES_MAX], y[SL_LANES_MAX], z[SL_LANES_MAX], r[SL_LANES_MAX];
	float time[SL_LANES_MAX], weight[SL_LANES_MAX];
	uint8_t fate[SL_LANES_MAX];
};

/* The flights of the step. */
struct sl_flown {
	float x[SL_LANES_MAX], y[SL_LANES_MAX], z[SL_LANES_MAX], time[SL_LANES_MAX];
	float u[SL_LANES_MAX], v[SL_LANES_MAX], w[SL_LANES_MAX];
	float length[SL_LANES_MAX], end_z[SL_LANES_MAX], weight[SL_LANES_MAX];
};

/* Adds the collisions of the lanes whose bit is set in hits to the counters of a batch. Once per CPU level. */
typedef void sl_score_loop(const struct sl_recipe *recipe, uint32_t hits,
	const struct sl_stepped *lanes, uint64_t *bins);
sl_score_loop SL_EVERY_LEVEL(sl_loop_score);

/* Adds the flights of the lanes whose bit is set in moved. */
typedef void sl_flights_loop(const struct sl_recipe *recipe, uint32_t moved,
	const struct sl_flown *lanes, uint64_t *bins);
sl_flights_loop SL_EVERY_LEVEL(sl_loop_flights);

#endif
