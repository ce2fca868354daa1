/* compare_print.h - a comparison as tables of text. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_PRINT_H
#define SL_PIPELINE_COMPARE_COMPARE_PRINT_H

#include <stdio.h>

#include "pipeline/compare/cases/comparison.h"

/* Prints host and device, the three tables, and the message of each case that differs or failed. */
void sl_compare_print(const struct sl_comparison *c, FILE *out);

#endif
