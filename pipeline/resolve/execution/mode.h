/*
 * mode.h - resolves run.mode: staged or fused execution of a batch.
 */
#ifndef SL_PIPELINE_RESOLVE_EXECUTION_MODE_H
#define SL_PIPELINE_RESOLVE_EXECUTION_MODE_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets mode and mode_reason, and turns a schedule of auto into histories where no GPU can measure.
 * Call it after sl_resolve_primitives().
 */
void sl_resolve_mode(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/* Whether fused mode can run what is chosen: it has room for the columns, and there are no scores along histories. */
bool sl_mode_allows_fused(const struct sl_choices *c);

#endif
