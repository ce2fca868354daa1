/*
 * keep.h - resolves keep: the fates that survive, and the conditions on them.
 */
#ifndef SL_PIPELINE_RESOLVE_CONDITION_KEEP_H
#define SL_PIPELINE_RESOLVE_CONDITION_KEEP_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/condition/operand.h"

/*
 * Sets choices->keep and choices->condition from the items of keep, or adds a problem. choices->model
 * must be set; more are the derived columns, or NULL.
 */
void sl_resolve_keep(const struct sl_config *c, struct sl_reader *r,
	const struct sl_more_names *more, struct sl_choices *choices);

#endif
