/* cases.h - the combinations of backends and schedules that a comparison runs, and their names. */
#ifndef SL_PIPELINE_COMPARE_CASES_CASES_H
#define SL_PIPELINE_COMPARE_CASES_CASES_H

#include "pipeline/compare/cases/comparison.h"
#include "pipeline/resolve/execution/backends.h"

/*
 * Sets c->cases and c->n from c->choices. If the configuration computes on the CPU, there are only
 * host cases; otherwise device cases follow.
 */
void sl_cases_choose(struct sl_comparison *c);

/* Does the case have time t (comparison.h)? It runs that stage, or it is on a device (the transfer). */
bool sl_case_has_time(const struct sl_comparison_case *entry, int t);

/* Does the case run on the emulated device? Then its memory accesses are counted, and it has no times. */
bool sl_case_is_emulated(const struct sl_comparison_case *entry);

/* "host" or "device". */
const char *sl_case_space(const struct sl_comparison_case *entry);

/* What a case chooses; sl_case_columns has the headings of these columns in all outputs. */
enum { SL_CASE_SCAN, SL_CASE_COMPACT, SL_CASE_SORT, SL_CASE_SCHEDULE, SL_CASE_CHOICES };
extern const char *const sl_case_columns[SL_CASE_CHOICES];

/*
 * The names of the choices of a case. Backends: "naive:block=128"; "own" for a scan inside compact
 * and sort, "-" for none, "fused" for the compact of fused mode. Schedule: "history", or for rounds
 * the compaction ("every") or the sort ("sort every 4").
 */
enum { SL_CASE_BYTES = 5 * SL_CHOICE_BYTES };
struct sl_case_names {
	char of[SL_CASE_CHOICES][SL_CHOICE_BYTES];
};
struct sl_case_names sl_case_names(const struct sl_comparison_case *entry);

/* Writes "device, scan naive, compact naive, sort shared" to text and returns text. */
const char *sl_case_text(const struct sl_comparison_case *entry, char text[SL_CASE_BYTES]);

#endif
