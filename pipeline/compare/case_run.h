/* case_run.h - one row of a comparison: run, held against the reference, timed. */
#ifndef SL_PIPELINE_COMPARE_CASE_RUN_H
#define SL_PIPELINE_COMPARE_CASE_RUN_H

#include "pipeline/compare/reference.h"

/*
 * Runs row. dir is an empty folder, which stays so. A row that differs is no failure here: its
 * answer says so.
 */
enum sl_status sl_case_run(const struct sl_comparison *c, struct sl_comparison_case *row,
	struct sl_reference *r, const struct sl_dir *dir, struct sl_control *control);

#endif
