/*
 * workspace.h - what a run changes: the memory of a plan, the schedule in use and the sums over
 * batches.
 *
 * A plan is constant. The workspace refers to it, owns everything that execution writes to, and is
 * made before the first particle: after sl_workspace_allocate() nothing allocates.
 */
#ifndef SL_PIPELINE_RUN_WORKSPACE_H
#define SL_PIPELINE_RUN_WORKSPACE_H

#include <stdatomic.h>

#include "pipeline/plan/host_slot.h"
#include "pipeline/results/histogram.h"
#include "pipeline/results/image_sum.h"
#include "stages/device/device_pipeline.h"

enum { SL_SCHEDULE_REASON_BYTES = 300 };

struct sl_workspace {
	const struct sl_plan *plan;
	struct sl_recipe
		recipe;    /* the plan's, with the schedule in use; recipe.cancel is &cancel */
	atomic_int cancel; /* set: batches in flight end early and are discarded */
	char schedule_reason[SL_SCHEDULE_REASON_BYTES]; /* why this schedule, or "" */
	double seconds[SL_CANDIDATES_MAX]; /* of each candidate's trial; 0: not measured */
	struct sl_host_slot *slot;         /* n_host_slots of the plan; NULL: not provided */
	struct sl_device_pipeline *device_pipeline; /* n_device_slots of the plan */
	void *file_image;                    /* one per writer, plan->memory.image bytes each */
	struct sl_histogram_sums histograms; /* over committed batches */
	void *histogram_block;               /* the memory of histograms */
	struct sl_image_sum image_sum;       /* of the image of the run, if it makes one */
};

/*
 * Makes the workspace of a plan, with memory for its histograms and image, but without slots. The
 * plan must outlive it. *made is to be closed even after a failure.
 */
enum sl_status sl_workspace_open(const struct sl_plan *plan, struct sl_workspace **made);

/* Allocates slots and device pipelines; makes the plan's device the calling thread's. */
enum sl_status sl_workspace_allocate(struct sl_workspace *w);

/*
 * Makes a candidate's schedule the one in use and lays out slots and device pipelines for it. What
 * the slots held is lost.
 */
enum sl_status sl_workspace_use(struct sl_workspace *w, const struct sl_candidate *candidate);

/* Frees the workspace, not the plan; w may be NULL. */
void sl_workspace_close(struct sl_workspace *w);

#endif
