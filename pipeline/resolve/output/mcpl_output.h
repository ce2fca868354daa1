/*
 * mcpl_output.h - resolves output.mcpl: the contents of MCPL files.
 */
#ifndef SL_PIPELINE_RESOLVE_OUTPUT_MCPL_OUTPUT_H
#define SL_PIPELINE_RESOLVE_OUTPUT_MCPL_OUTPUT_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * For the formats mcpl and mcpl.gz: sets choices->format_facts and returns the set of columns that the
 * records need. For other formats: adds a problem for each key of output.mcpl and returns set, the
 * columns of output.columns. rules: choices->rules are made.
 */
sl_column_set sl_resolve_mcpl(const struct sl_config *c, struct sl_reader *r,
	struct sl_choices *choices, sl_column_set set, bool rules);

#endif
