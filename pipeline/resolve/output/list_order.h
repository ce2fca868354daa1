/*
 * list_order.h - resolves output.order, output.sample and output.limit: which survivors the joined file
 * of the run has, and in which order.
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_LIST_ORDER_H
#define SL_PIPELINE_RESOLVE_OUTPUT_LIST_ORDER_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets choices->list_order, and adds the columns that decide, as internal ones, to those of the table.
 * Called after the columns and the key are resolved. rules: choices->rules are made.
 */
void sl_resolve_list_order(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool rules);

#endif
