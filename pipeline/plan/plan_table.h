/* plan_table.h - the columns of a plan as a table, and what compresses them. */
#ifndef SL_PIPELINE_PLAN_PLAN_TABLE_H
#define SL_PIPELINE_PLAN_PLAN_TABLE_H

#include "pipeline/plan/plan.h"

/* A table with the plan's columns and n rows but no data, by which formats size their files. */
struct sl_table sl_plan_table(const struct sl_plan *plan, uint32_t n);

/* The backend that compresses survivors: the device's, or the host's. */
const struct sl_backend *sl_plan_deflate(const struct sl_plan *plan);

/* True if the device packs survivors completely, so that host threads compress nothing. */
bool sl_plan_is_device_packed(const struct sl_plan *plan);

#endif
