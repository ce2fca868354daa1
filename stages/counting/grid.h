/*
 * grid.h - counts the particles of a batch in the grids (stages/selection/grid.h), on the host and
 * on a device in staged mode. In fused mode select.cu counts them.
 *
 * Input: the particles with their final fates. Weights are multiplied by weight_scale (see
 * sl_weight_scale()).
 */
#ifndef SL_STAGES_COUNTING_GRID_H
#define SL_STAGES_COUNTING_GRID_H

#include "primitives/device/device.h"
#include "stages/batch/batch.h"
#include "stages/selection/grid.h"

SL_C_BEGIN

/* Adds the first b->n particles of b to sum: sl_grid_words(grids) words. */
void sl_grids_count(const struct sl_grid_set *grids, float weight_scale, const struct sl_batch *b,
	uint64_t *sum);

/*
 * Queues the kernel that does the same to copies of these words; grids and sums are device memory:
 * grids->copies times sl_grid_words(grids) words.
 */
typedef enum sl_status sl_grids_launcher(const struct sl_grid_set *grids, float weight_scale,
	const struct sl_batch *b, uint64_t *sums, sl_stream s);
sl_grids_launcher sl_queue_grids, sl_queue_grids_emulated;

/* Queues the kernel that sets sum to the total of the copies in sums. grids is host memory. */
typedef enum sl_status sl_grids_total_launcher(
	const struct sl_grid_set *grids, const uint64_t *sums, uint64_t *sum, sl_stream s);
sl_grids_total_launcher sl_queue_grids_total, sl_queue_grids_total_emulated;

/*
 * Separates counts and sums of collisions on the host (score_word.h); once, after the last step of
 * a batch.
 */
void sl_grids_separate(const struct sl_grid_set *grids, uint64_t *sum);

SL_C_END

#endif
