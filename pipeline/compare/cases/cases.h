/* cases.h - the combinations of backends and schedules that a comparison runs, and their names. */
#ifndef SL_PIPELINE_COMPARE_CASES_CASES_H
#define SL_PIPELINE_COMPARE_CASES_CASES_H

#include "pipeline/compare/cases/comparison.h"
#include "pipeline/resolve/execution/backends.h"

/*
 * Chooses the rows: those of the host alone when choices are on the CPU, else those of the device
 * too.
 */
void sl_cases_choose(struct sl_comparison *c);

/* Is a scan part of what this row does? */
bool sl_case_scans(const struct sl_comparison_case *row);

/* "naive:block=128"; "own" for a scan that the others have, "fused", "-" for none. */
enum { SL_CASE_BYTES = 5 * SL_CHOICE_BYTES };
struct sl_case_names {
	char scan[SL_CHOICE_BYTES], compact[SL_CHOICE_BYTES], sort[SL_CHOICE_BYTES];
	char schedule[SL_CHOICE_BYTES]; /* "history"; when rounds compact: "every"; or "sort every
	                                   4" */
};
struct sl_case_names sl_case_names(const struct sl_comparison_case *row);

/* "device: scan own, compact naive, sort shared". */
const char *sl_case_text(const struct sl_comparison_case *row, char text[SL_CASE_BYTES]);

#endif
