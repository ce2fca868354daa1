/*
 * grid.h - counts the particles of a batch in the tallies (stages/selection/grid.h), on a device in
 * staged mode. In fused mode select.cu counts them, on the host mark.c.
 *
 * Input: the particles with their final fates. Weights are multiplied by weight_scale (see
 * sl_weight_scale()), and by square_scale before they are squared.
 */
#ifndef SL_STAGES_COUNTING_GRID_H
#define SL_STAGES_COUNTING_GRID_H

#include "primitives/device/device.h"
#include "stages/batch/batch.h"
#include "stages/selection/grid.h"

SL_C_BEGIN

/*
 * Queues the kernels that add the first b->n particles of b to sum, the sl_grid_words(grids) words
 * of a batch. device_grids is a copy of grids; it, sum and copies are device memory: grids->copies
 * times the words of a batch, for counters in global memory. each_step: particles after a step of a
 * filter, in the tallies of steps only.
 */
typedef enum sl_status sl_grids_launcher(const struct sl_grid_set *grids,
	const struct sl_grid_set *device_grids, bool each_step, float weight_scale,
	float square_scale, const struct sl_batch *b, uint64_t *copies, uint64_t *sum, sl_stream s);
sl_grids_launcher sl_queue_grids, sl_queue_grids_emulated;

/* Queues the kernel that adds the copies to sum, once, after all counting. */
typedef enum sl_status sl_grids_total_launcher(
	const struct sl_grid_set *grids, const uint64_t *copies, uint64_t *sum, sl_stream s);
sl_grids_total_launcher sl_queue_grids_total, sl_queue_grids_total_emulated;

SL_C_END

#endif
