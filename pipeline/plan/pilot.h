/*
 * pilot.h - computes some particles of a run, to predict its survivors, its time and its bytes.
 */
#ifndef SL_PIPELINE_PLAN_PILOT_H
#define SL_PIPELINE_PLAN_PILOT_H

#include "pipeline/plan/plan.h"

/* Counts a particle of the pilot, with its final fate. */
void sl_pilot_add(struct sl_pilot *p, const struct sl_recipe *r, struct sl_particle *particle);

/* Sets plan->pilot. Adds a warning for each field of the key that sorts nothing, and for too many threads. */
enum sl_status sl_pilot_run(struct sl_plan *plan);

#endif
