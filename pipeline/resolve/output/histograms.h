/*
 * histograms.h - resolves tallies: histograms of a column, per fate.
 *
 * An item is COLUMN:BINS[:LO..HI][:FATE+FATE...]. Items in brackets are grids (grids.h).
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_HISTOGRAMS_H
#define SL_PIPELINE_RESOLVE_OUTPUT_HISTOGRAMS_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/derived/derived.h"

/*
 * Sets tally and n_histograms from the items of tallies. ranges: choices->rules are made, so that the
 * model can state the range of a column; d: the derived columns. Call it after sl_resolve_keep().
 */
void sl_resolve_histograms(const struct sl_config *c, struct sl_reader *r,
	struct sl_choices *choices, struct sl_derived *d, bool ranges);

/*
 * Resolves fates joined by +, each named once, for the item key. Cuts names; NULL stands for all fates.
 * ranges: refuses those that no particle reaches. False after adding a problem.
 */
bool sl_resolve_tally_fates(struct sl_reader *r, const char *key, char *names,
	const struct sl_choices *choices, bool ranges, sl_fate_set *set);

/* Whether an item of tallies is a grid. */
bool sl_is_grid_item(const char *item);

#endif
