/*
 * autotune.h - which way a batch is run, where transport.schedule leaves that open: what is fastest for
 * the first particles.
 *
 * The plan has a list of candidates, the first of them histories, and memory for any. Each makes
 * the same particles twice, in the memory of the run; the second time counts. All give the same
 * bits, so what a machine picks changes none of its results.
 */
#ifndef SL_PIPELINE_RUN_AUTOTUNE_H
#define SL_PIPELINE_RUN_AUTOTUNE_H

#include "pipeline/run/run.h"

/* The ways that choices leave open: into plan->candidate. The plan is that of the first. */
void sl_autotune_among(struct sl_plan *plan, const struct sl_choices *choices);

/* Makes that candidate the plan's way; memory is left as it is. */
void sl_autotune_take(struct sl_recipe *r, const struct sl_candidate *way);

/* What compacts the living and the survivors, of a plan whose schedule may be open; fused, none. */
const struct sl_choice *sl_autotune_compact(const struct sl_plan *plan);

/*
 * Measures the candidates of a plan that is provided, if there is a choice, and takes the fastest;
 * schedule_story tells. done batches are there already. Where auto has too few particles left to
 * make up for it, or control->stop is set, histories it is.
 */
enum sl_status sl_autotune_schedule(
	struct sl_plan *plan, const struct sl_manifest *done, struct sl_control *control);

#endif
