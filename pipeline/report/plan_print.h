/* plan_print.h - the text of `sluice plan`: sizes, backends, memory and files of a run. */
#ifndef SL_PIPELINE_REPORT_PLAN_PRINT_H
#define SL_PIPELINE_REPORT_PLAN_PRINT_H

#include <stdio.h>

#include "pipeline/plan/plan.h"

/* Prints what the run would do. */
void sl_plan_print(const struct sl_plan *plan, FILE *out);

#endif
