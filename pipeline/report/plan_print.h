/*
 * plan_print.h - what a run would do: sizes, backends, memory and files, as text or JSON (sluice
 * plan).
 */
#ifndef SL_PIPELINE_REPORT_PLAN_PRINT_H
#define SL_PIPELINE_REPORT_PLAN_PRINT_H

#include <stdio.h>

#include "pipeline/plan/plan.h"

enum sl_status sl_plan_print(const struct sl_plan *plan, bool json, FILE *out);

#endif
