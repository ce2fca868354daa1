/*
 * disk.h - predicts the bytes that a run writes, and refuses a run that the disk surely cannot hold.
 *
 * The prediction is an upper bound before compression, and an estimate with the compression that the pilot
 * has found. It needs the number of batches that are on the disk already; a joined file takes the space of
 * all batches again.
 */
#ifndef SL_PIPELINE_PLAN_CHECK_DISK_H
#define SL_PIPELINE_PLAN_CHECK_DISK_H

#include "pipeline/plan/plan.h"

/*
 * Compares the files that are still to be written with the free disk space, and sets plan->disk_bytes,
 * plan->disk_expected and plan->disk_free. done batches are on the disk already. SL_DISK if the free space
 * is far below the estimate; a warning if it may be too small.
 */
enum sl_status sl_disk_plan_check(struct sl_plan *plan, uint64_t done);

#endif
