/* check.h - checks a plan against the machine */
#ifndef SL_PIPELINE_PLAN_CHECK_CHECK_H
#define SL_PIPELINE_PLAN_CHECK_CHECK_H

#include "pipeline/plan/plan.h"

/* --- disk ------------------------------------------------------------------------------------- */

/*
 * Predicts the bytes that a run writes, and refuses a run that the disk surely cannot hold.
 *
 * The prediction is an upper bound before compression, and an estimate with the compression that
 * the pilot has found. It needs the number of batches that are on the disk already; a joined file
 * takes the space of all batches again.
 */

/*
 * Compares the files that are still to be written with the free disk space, and sets
 * plan->disk_bytes, plan->disk_expected and plan->disk_free. done batches are on the disk already.
 * SL_DISK if the free space is far below the estimate; a warning if it may be too small.
 */
enum sl_status sl_disk_plan_check(struct sl_plan *plan, uint64_t done);

/* --- resources -------------------------------------------------------------------------------- */

/*
 * Checks before a run whether it fits in memory and on the disk.
 *
 * The disk is checked separately from the plan, because the prediction needs the pilot and, for a
 * resumed run, the batches that are already committed.
 */

/*
 * Runs the pilot, adds the warnings and returns SL_HOST_MEMORY, SL_DEVICE_MEMORY or SL_DISK if the
 * run does not fit. done is the number of batches that are already on the disk. predict: also the
 * time and the bytes of the run.
 */
enum sl_status sl_plan_check_resources(struct sl_plan *plan, uint64_t done, bool predict);

/*
 * sl_plan_check_resources() for a run without files. keep_all: the caller keeps all survivors in
 * memory, or in device memory if they are resident, so that they must fit as well.
 */
enum sl_status sl_plan_check_in_memory(struct sl_plan *plan, bool keep_all);

#endif
