/* compare_print.h - a comparison as tables of text. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_PRINT_H
#define SL_PIPELINE_COMPARE_COMPARE_PRINT_H

#include <stdio.h>

#include "pipeline/compare/comparison.h"

void sl_compare_print(const struct sl_comparison *c, FILE *out);

#endif
