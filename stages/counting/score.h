/*
 * score.h - advances the particles of a model with scores on a device, and adds their collisions
 * and flights to the scores of the batch (stages/selection/grid.h). On the host score_lanes.h does
 * the same.
 */
#ifndef SL_STAGES_COUNTING_SCORE_H
#define SL_STAGES_COUNTING_SCORE_H

#include "primitives/device/device.h"
#include "stages/batch/batch.h"
#include "stages/models/model.h"

struct sl_grid_set;

SL_C_BEGIN

/*
 * As sl_advance_launcher, for a recipe with scores; it adds to sum, the counters of the grids. sum
 * and device_grids, a copy of grids, are device memory.
 */
typedef enum sl_status sl_scored_launcher(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, const struct sl_grid_set *grids,
	const struct sl_grid_set *device_grids, uint64_t *sum, uint64_t *alive, sl_stream s);
sl_scored_launcher sl_queue_scored, sl_queue_scored_emulated;

SL_C_END

#endif
