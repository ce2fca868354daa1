/*
 * score_loop.h - adds the collisions of a step to the scores of a batch (stages/selection/grid.h), on the host.
 * flight_loop.h adds the flights.
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

/* Adds the collisions of the lanes whose bit is set in hits to the counters of a batch. Once per CPU level. */
typedef void sl_score_loop(const struct sl_recipe *recipe, uint32_t hits,
	const struct sl_stepped *lanes, uint64_t *bins);
sl_score_loop SL_EVERY_LEVEL(sl_loop_score);

#endif
