/*
 * keep.h - resolves keep: the fates that survive, and the conditions on them.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_KEEP_H
#define SL_PIPELINE_RESOLVE_CONDITION_KEEP_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets choices->keep and choices->condition from the items of keep, or adds a problem. choices->model
 * must be set.
 */
void sl_resolve_keep(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

#endif
