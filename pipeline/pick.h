/*
 * pick.h - transport.schedule: auto is what is fastest for the first particles.
 *
 * Each way that the configuration leaves open makes the first batch, or the first 65536 particles
 * of it where the CPU computes, twice; the second time counts. All give the same bits, so what a
 * machine picks changes none of its results.
 */
#ifndef SL_PICK_H
#define SL_PICK_H

#include "pipeline/run.h"

/*
 * Measures, if the plan leaves the schedule open, and makes the plan of what was fastest in its
 * stead; its schedule_story tells. SL_STOPPED when control->stop is set meanwhile. A way for which
 * there is no memory is left out.
 */
enum sl_status sl_pick_schedule(const struct sl_config *config, const struct sl_choices *choices,
	struct sl_control *control, struct sl_plan **plan);

#endif
