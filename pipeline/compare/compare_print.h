/* compare_print.h - prints a comparison. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_PRINT_H
#define SL_PIPELINE_COMPARE_COMPARE_PRINT_H

#include "pipeline/compare/cases/cases.h"
#include "pipeline/print/result.h"

extern const struct sl_line sl_compare_text[], sl_compare_csv[];

/* lines: one of these lists; NULL: JSON. */
enum sl_status sl_compare_print(
	const struct sl_comparison *c, const struct sl_line *lines, FILE *out);

#endif
