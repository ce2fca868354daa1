/*
 * resources.h - checks before a run whether it fits in memory and on the disk.
 *
 * The disk is checked separately from the plan, because the prediction needs the pilot and, for a resumed
 * run, the batches that are already committed.
 */
#ifndef SL_PIPELINE_PLAN_CHECK_RESOURCES_H
#define SL_PIPELINE_PLAN_CHECK_RESOURCES_H

#include "pipeline/plan/plan.h"

/*
 * Runs the pilot, adds the warnings and returns SL_HOST_MEMORY, SL_DEVICE_MEMORY or SL_DISK if the run does not fit.
 * done is the number of batches that are already on the disk. predict: also the time and the bytes of the run.
 */
enum sl_status sl_plan_check_resources(struct sl_plan *plan, uint64_t done, bool predict);

/*
 * sl_plan_check_resources() for a run without files. keep_all: the caller keeps all survivors in memory,
 * or in device memory if they are resident, so that they must fit as well.
 */
enum sl_status sl_plan_check_in_memory(struct sl_plan *plan, bool keep_all);

#endif
