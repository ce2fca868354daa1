/*
 * pilot.h - computes some particles of a run, to predict its survivors, its time and its bytes.
 */
#ifndef SL_PIPELINE_PLAN_PILOT_H
#define SL_PIPELINE_PLAN_PILOT_H

#include "pipeline/plan/plan.h"

/* Counts a particle of the pilot, with its final fate. */
void sl_pilot_add(struct sl_pilot *p, const struct sl_recipe *r, struct sl_particle *particle);

/* Counts the survivors in plan->pilot; of lists also the time. Adds a warning for each field of the key that sorts nothing, and for too many threads. */
enum sl_status sl_pilot_run(struct sl_plan *plan);

/*
 * Predicts time and bytes, unless they are known already. This takes as long as to compute 40,000 particles, so a
 * run does it only if its disk may be too small. Lists are not sampled.
 */
enum sl_status sl_pilot_sample(struct sl_plan *plan);

#endif
