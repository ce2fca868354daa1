/* compare_json.h - a comparison as JSON, or as CSV with one line per case and stage. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_JSON_H
#define SL_PIPELINE_COMPARE_COMPARE_JSON_H

#include <stdio.h>

#include "pipeline/compare/cases/comparison.h"

/* One object with a "rows" array, one element per case. */
void sl_compare_json(const struct sl_comparison *c, FILE *out);

/* A header line, then one line per case and stage. A field without a value is empty. */
void sl_compare_csv(const struct sl_comparison *c, FILE *out);

#endif
