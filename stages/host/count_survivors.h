/*
 * count_survivors.h - counts the survivors of a list before a run, so that a batch needs memory for them
 * only, and not for all of its particles.
 */
#ifndef SL_STAGES_HOST_COUNT_SURVIVORS_H
#define SL_STAGES_HOST_COUNT_SURVIVORS_H

#include "stages/batch/recipe.h"

/*
 * Sets *most to the survivors of the batch that has the most of them. Reads and marks all particles of the
 * inputs of r, a block at a time, on the calling thread. SL_STOPPED if the run was cancelled.
 */
enum sl_status sl_count_survivors(const struct sl_recipe *r, uint32_t *most);

#endif
