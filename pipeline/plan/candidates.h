/*
 * candidates.h - the schedules that a run measures if transport.schedule is auto or measured.
 *
 * All candidates give the same bits. The first is histories. The plan has memory for each
 * of them, and pipeline/run/autotune.h measures them.
 */
#ifndef SL_PIPELINE_PLAN_CANDIDATES_H
#define SL_PIPELINE_PLAN_CANDIDATES_H

#include "pipeline/plan/plan.h"

/* Fills plan->candidate; n_candidates is 0 if the configuration names the schedule. */
void sl_candidates_make(struct sl_plan *plan, const struct sl_choices *choices);

/* The particles of one trial if `left` particles remain; 0: too few to repay the trials. */
uint64_t sl_candidates_trial(uint64_t left);

/* Copies the mode, schedule and compact backend of a candidate to recipe r. */
void sl_candidate_apply(struct sl_recipe *r, const struct sl_candidate *candidate);

/*
 * The backend that compacts active particles and survivors. With candidates it is the backend of
 * the staged ones. A fused plan has none (backend is NULL).
 */
const struct sl_choice *sl_plan_compact(const struct sl_plan *plan);

#endif
