/*
 * score.h - adds the collisions of the particles of a slab to the scores of a batch
 * (stages/selection/grid.h): on the host after each step of the loop of stages/advance.c, on a device in
 * a kernel that advances the particles.
 */
#ifndef SL_STAGES_COUNTING_SCORE_H
#define SL_STAGES_COUNTING_SCORE_H

#include "primitives/device/device.h"
#include "stages/batch/loops.h"

struct sl_grid_set;

SL_C_BEGIN

/*
 * As sl_advance_launcher, for a recipe with scores; it adds to sum, the counters of the grids. grids and sum
 * are device memory.
 */
typedef enum sl_status sl_scored_launcher(const void *rules, uint64_t seed,
	const struct sl_batch *b, const struct sl_grid_set *grids, uint64_t *sum, uint64_t *alive,
	sl_stream s);
sl_scored_launcher sl_queue_scored, sl_queue_scored_emulated;

/* The particles in the lanes after a step, with their weights before it; r is the distance from the z axis. */
struct sl_stepped {
	float x[SL_LANES_MAX], y[SL_LANES_MAX], z[SL_LANES_MAX], r[SL_LANES_MAX];
	float time[SL_LANES_MAX], weight[SL_LANES_MAX];
	uint8_t fate[SL_LANES_MAX];
};

/* Adds the lanes whose bit is set in hits to the counters of a batch. Once per CPU level. */
typedef void sl_score_loop(const struct sl_recipe *recipe, uint32_t hits,
	const struct sl_stepped *lanes, uint64_t *bins);
sl_score_loop SL_EVERY_LEVEL(sl_loop_score);

SL_C_END

#endif
