/* rounds_host.h - the advance stage in rounds, on the host. */
#ifndef SL_STAGES_HOST_ROUNDS_HOST_H
#define SL_STAGES_HOST_ROUNDS_HOST_H

#include "stages/batch/recipe.h"

/*
 * Advances all particles of b until none is alive, by the schedule of r. b has been generated.
 * Fills b->rounds. SL_STOPPED if the run was cancelled.
 */
enum sl_status sl_rounds_on_host(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b);

#endif
