/* case_plan.h - the plan and workspace of one case. */
#ifndef SL_PIPELINE_COMPARE_CASES_CASE_PLAN_H
#define SL_PIPELINE_COMPARE_CASES_CASE_PLAN_H

#include "pipeline/compare/cases/comparison.h"

/*
 * Plans a case and provides its workspace: for all batches, or for the first alone with one thread
 * and one device pipeline. The caller closes *w and frees *plan, also after a failure.
 */
enum sl_status sl_case_plan(const struct sl_comparison *c, const struct sl_comparison_case *entry,
	bool first_batch, struct sl_plan **plan, struct sl_workspace **w);

#endif
