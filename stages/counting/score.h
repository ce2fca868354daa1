/*
 * score.h - adds the collisions of histories to the scores of a batch (stages/selection/grid.h).
 *
 * On the host the loop of stages/advance.c calls sl_score_collision() after each step that ends in one; on a
 * device a kernel of its own advances the particles.
 */
#ifndef SL_STAGES_COUNTING_SCORE_H
#define SL_STAGES_COUNTING_SCORE_H

#include "primitives/device/device.h"
#include "stages/batch/batch.h"
#include "stages/models/model.h"

struct sl_grid_set;
struct sl_recipe;

SL_C_BEGIN

/* Whether the batches of a recipe have scores. */
bool sl_has_scores(const struct sl_recipe *r);

/* Adds a collision at the place of p, to which it came with the given weight, to the counters. */
void sl_score_collision(
	const struct sl_recipe *r, float weight, struct sl_particle *p, uint64_t *bins);

/*
 * As sl_advance_launcher, for a recipe with scores; it adds to sum, the counters of the grids. grids and sum
 * are device memory.
 */
typedef enum sl_status sl_scored_launcher(const void *rules, uint64_t seed,
	const struct sl_batch *b, const struct sl_grid_set *grids, uint64_t *sum, uint64_t *alive,
	sl_stream s);
sl_scored_launcher sl_queue_scored, sl_queue_scored_emulated;

SL_C_END

#endif
