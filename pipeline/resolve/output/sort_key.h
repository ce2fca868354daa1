/*
 * sort_key.h - resolves key: the fields by which survivors are sorted.
 *
 * An item is COLUMN:BITS[:LO..HI]; COLUMN_log:BITS sorts by the logarithm, COLUMN:float by the exact
 * number, -COLUMN in descending order.
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_SORT_KEY_H
#define SL_PIPELINE_RESOLVE_OUTPUT_SORT_KEY_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/derived/derived.h"

/*
 * Sets field, n_fields and key_bits from the items of key. ranges: choices->rules are made, so that
 * the model can state the range of a column; d: the derived columns.
 */
void sl_resolve_key(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices,
	struct sl_derived *d, bool ranges);

#endif
