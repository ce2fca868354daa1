/*
 * autotune.h - chooses the schedule by measurement where transport.schedule leaves it open.
 *
 * Each candidate of the plan computes the same first particles, in the memory of the run: fewer of
 * them to warm up, then all of them, which is timed. All candidates give the same bits, so the
 * choice changes no result, and sessions of one run may choose differently.
 */
#ifndef SL_PIPELINE_RUN_AUTOTUNE_H
#define SL_PIPELINE_RUN_AUTOTUNE_H

#include "pipeline/run/run.h"

/*
 * Measures the candidates of the plan of w, makes the fastest the schedule in use and writes the
 * times to w->schedule_reason. w has its slots (sl_workspace_allocate()). done are the batches
 * committed before. The schedule stays that of the plan if there is no choice, or if too few
 * particles are left for trials; it is histories if control->stop is set. Returns the failure of a
 * trial.
 */
enum sl_status sl_autotune_schedule(
	struct sl_workspace *w, const struct sl_manifest *done, struct sl_control *control);

#endif
