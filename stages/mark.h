/*
 * mark.h - stage 3: decides which particles survive, and counts all particles.
 *
 * Derived columns are computed first. Input: the fates of the model. Particles with a kept fate
 * that fail the condition get the fate dropped. Output: b->keep (1 = survives), and the tally: per
 * fate the number of particles and the sum of their weights, and of their squares where weights
 * differ. On the host the same loop counts the tallies; on a device counting/grid.h does.
 */
#ifndef SL_STAGES_MARK_H
#define SL_STAGES_MARK_H

#include "primitives/device/device.h"
#include "stages/batch/loops.h"
#include "stages/selection/program.h"

SL_C_BEGIN

/* The loop on the host, once per CPU level; adds to b->tally and b->bins. */
sl_loop SL_EVERY_LEVEL(sl_loop_mark);

/* Counts particles after a step of a filter in the tallies of steps. */
sl_loop SL_EVERY_LEVEL(sl_loop_count_step);

/*
 * Queues the kernel that marks the particles of b; keep are the fates that survive. It adds to
 * *tally, which is device memory. If square_scale (see sl_square_scale()) is 0, each particle has
 * the fixed-point weight common_weight; else its weight is multiplied by weight_scale.
 */
typedef enum sl_status sl_mark_launcher(sl_fate_set keep, const struct sl_program *condition,
	uint64_t common_weight, float weight_scale, float square_scale, const struct sl_batch *b,
	struct sl_tally *tally, sl_stream s);
sl_mark_launcher sl_queue_mark, sl_queue_mark_emulated;

/*
 * Queues the kernel that derives the columns of n particles, whose ids are in c, or follow *first_id
 * in memory of the device (NULL: 0).
 */
typedef enum sl_status sl_derive_launcher(const struct sl_program *derivation,
	const struct sl_columns *c, const uint64_t *first_id, uint32_t n, sl_stream s);
sl_derive_launcher sl_queue_derive, sl_queue_derive_emulated;

SL_C_END

#endif
