/* cases.h - the combinations of backends and schedules that a comparison runs, and their names. */
#ifndef SL_PIPELINE_COMPARE_CASES_CASES_H
#define SL_PIPELINE_COMPARE_CASES_CASES_H

#include "pipeline/compare/cases/comparison.h"

/*
 * Sets c->cases and c->n from c->choices. If the configuration computes on the CPU, there are only
 * host cases; otherwise device cases follow.
 */
void sl_cases_choose(struct sl_comparison *c);

/* Does the compact or sort backend of this case use the scan backend? */
bool sl_case_scans(const struct sl_comparison_case *entry);

/* Names such as "naive:block=128"; "own" for a scan inside compact and sort, "-" for none, "fused" for
 * the compact of fused mode. */
enum { SL_CHOICE_BYTES = 48, SL_CASE_BYTES = 5 * SL_CHOICE_BYTES };
struct sl_case_names {
	char scan[SL_CHOICE_BYTES], compact[SL_CHOICE_BYTES], sort[SL_CHOICE_BYTES];
	char schedule
		[SL_CHOICE_BYTES]; /* "history"; compaction of rounds "every"; "sort every 4" */
};
struct sl_case_names sl_case_names(const struct sl_comparison_case *entry);

/* Writes "device, scan naive, compact naive, sort shared" to text and returns text. */
const char *sl_case_text(const struct sl_comparison_case *entry, char text[SL_CASE_BYTES]);

#endif
