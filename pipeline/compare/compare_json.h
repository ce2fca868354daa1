/* compare_json.h - a comparison as JSON, or as CSV with one line per case and stage. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_JSON_H
#define SL_PIPELINE_COMPARE_COMPARE_JSON_H

#include <stdio.h>

#include "pipeline/compare/comparison.h"

enum sl_status sl_compare_json(const struct sl_comparison *c, FILE *out);
void sl_compare_csv(const struct sl_comparison *c, FILE *out);

#endif
