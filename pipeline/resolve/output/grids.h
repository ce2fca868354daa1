/*
 * grids.h - resolves the items of tallies in brackets: grids of one to three axes, per fate.
 *
 *	[r:100:0 mm..5 mm, z:50:0 mm..2 mm]     bins of equal width on each axis
 *	[energy:40:1 keV..1 MeV:log]            bins of equal ratio
 *	[z:0 mm..1 mm..5 mm]                    bins between given edges
 *	[w:50, time:20:0 ns..1 ns, reflected]   of these fates only, joined by +; all fates if omitted
 *	[deposit, z:50]                         a score along the histories
 *	[crossing:1 mm, w:20]                   the same: what crosses a plane
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_GRIDS_H
#define SL_PIPELINE_RESOLVE_OUTPUT_GRIDS_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/derived/derived.h"

/* Sets the grids of *choices. ranges and the order of calls are those of sl_resolve_histograms(). */
void sl_resolve_grids(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices,
	struct sl_derived *d, bool ranges);

/* The name of each score, as in a configuration; "" for SL_SCORE_ENDS. */
extern const char *const sl_score_names[SL_SCORE_COUNT];

/* The name of a row: that of a fate, or "all" of a score. */
const char *sl_grid_row_name(const struct sl_grid_field *f, int fate);

#endif
