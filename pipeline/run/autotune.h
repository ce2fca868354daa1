/*
 * autotune.h - chooses the schedule by measurement where transport.schedule leaves it open.
 *
 * Each candidate of the plan computes the same first particles twice, in the memory of the run; the
 * second time counts. All candidates give the same bits, so the choice changes no result.
 */
#ifndef SL_PIPELINE_RUN_AUTOTUNE_H
#define SL_PIPELINE_RUN_AUTOTUNE_H

#include "pipeline/run/run.h"

/*
 * Measures the candidates of the plan of w, which is provided, and makes the fastest the schedule
 * in use; w->schedule_reason gives the times. done are the batches committed before. The schedule
 * stays histories if there is no choice, if auto has too few particles left for trials, or if
 * control->stop is set.
 */
enum sl_status sl_autotune_schedule(
	struct sl_workspace *w, const struct sl_manifest *done, struct sl_control *control);

#endif
