/* case_run.h - runs one case of a comparison, checks it against the reference, and times it. */
#ifndef SL_PIPELINE_COMPARE_CASES_CASE_RUN_H
#define SL_PIPELINE_COMPARE_CASES_CASE_RUN_H

#include "pipeline/compare/cases/reference.h"

/*
 * Runs a case and sets its times. dir is an empty directory; it is empty again on success. Returns
 * SL_OK also for a case that differs: sl_reference_check() then has set its answer and message.
 */
enum sl_status sl_case_run(const struct sl_comparison *c, struct sl_comparison_case *entry,
	struct sl_reference *r, struct sl_dir *dir, struct sl_control *control);

#endif
