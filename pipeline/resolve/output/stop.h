/*
 * stop.h - resolves stop: the precision at which a run ends early.
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_STOP_H
#define SL_PIPELINE_RESOLVE_OUTPUT_STOP_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/* Sets choices->stop_rule from the keys below stop. Call it after sl_resolve_keep(). */
void sl_resolve_stop(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

#endif
