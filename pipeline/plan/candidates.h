/*
 * candidates.h - the schedules that a run chooses from where transport.schedule leaves them open.
 *
 * All candidates give the same bits. The first follows histories; the plan has memory for any of
 * them, and pipeline/run/autotune.h measures them.
 */
#ifndef SL_PIPELINE_PLAN_CANDIDATES_H
#define SL_PIPELINE_PLAN_CANDIDATES_H

#include "pipeline/plan/plan.h"

/* Fills plan->candidate with what choices leave open; none if the schedule is named. */
void sl_candidates_make(struct sl_plan *plan, const struct sl_choices *choices);

/* The particles of one trial with so many particles left; 0: too few to be worth a choice. */
uint64_t sl_candidates_trial(uint64_t left);

/* Makes a candidate's mode, schedule and compact backend those of recipe r. */
void sl_candidate_apply(struct sl_recipe *r, const struct sl_candidate *candidate);

/*
 * The backend that compacts active particles and survivors. If the schedule is open it is that of
 * the staged candidates. A fused plan has none.
 */
const struct sl_choice *sl_plan_compact(const struct sl_plan *plan);

#endif
