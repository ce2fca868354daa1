/*
 * workspace.h - everything that a run changes: slots, device pipelines, the schedule in use, and
 * the sums over batches.
 *
 * A plan is constant; the workspace refers to it and owns all memory that execution writes to.
 * After sl_workspace_allocate() nothing allocates, so a run that starts does not fail for lack of
 * memory; except the pinned memory for what a device packs, whose size is known when a batch is there.
 * The plan has counted the most that it can be.
 *
 *	sl_workspace_open()       histograms and image: enough to add up batches that are committed
 *	sl_workspace_allocate()   slots, device pipelines, file images: to compute batches
 *	sl_workspace_use()        optional: another schedule in the same memory
 *	sl_workspace_free_devices()   optional, after the last batch
 *	sl_workspace_close()
 */
#ifndef SL_PIPELINE_RUN_WORKSPACE_H
#define SL_PIPELINE_RUN_WORKSPACE_H

#include <stdatomic.h>

#include "pipeline/plan/host_slot.h"
#include "pipeline/results/histogram.h"
#include "pipeline/results/image_sum.h"
#include "primitives/device/placement.h"
#include "stages/device/device_pipeline.h"

enum { SL_SCHEDULE_REASON_BYTES = 300 };

/* The joined file of a finished run. */
struct sl_joined_list {
	uint64_t particles;
	double threshold; /* of a sample: the least weight of its particles; 0: no sample was needed */
	double seconds; /* wall time of making it */
};

/* One device of a run. */
struct sl_run_device {
	struct sl_placement place;
	bool binds;                 /* its threads run on the processors near it */
	bool dropped;               /* it has failed: the run continues on the others */
	char why[SL_MESSAGE_BYTES]; /* the message of that failure */
};

/* The last session of one of the parts that a run was joined from. */
struct sl_part_times {
	uint64_t number, batches;
	double seconds;
	char host[72];
};

/* What run.json of a joined run has from its parts, because its own plan has computed nothing. */
struct sl_parts_origin {
	const char *members; /* machine to primitives, from the run.json of a part */
	struct sl_part_times *part;
	size_t n_parts;
};

/* A rank of a run under MPI. */
struct sl_rank_facts {
	char host[72], device[128]; /* device: the first one that it uses, or "" */
	uint64_t process;
	/* of this session; set at the end, on rank 0 */
	uint64_t batches, dropped_devices;
	uint32_t threads, slots, devices;
};

/* What a file should have until the run ends. */
struct sl_file_contents {
	uint64_t bytes;
	uint32_t crc;
};

/* Values of sl_now_ns(); 0: unknown. */
struct sl_moments {
	uint64_t started; /* the command, or the call of a program */
	uint64_t planned, allocated, reported;
};

struct sl_workspace {
	const struct sl_plan *plan;
	struct sl_moments at;
	struct sl_recipe recipe; /* the plan's, with the schedule in use and the flag cancel */
	atomic_int cancel;       /* if set, batches in flight end early and are discarded */
	char schedule_reason[SL_SCHEDULE_REASON_BYTES]; /* why this schedule, or "" */
	double seconds[SL_CANDIDATES_MAX];          /* of each candidate's trial; 0: not measured */
	struct sl_host_slot *slot;                  /* plan->n_host_slots; NULL: not allocated */
	struct sl_run_device *device;               /* plan->n_devices */
	struct sl_device_pipeline *device_pipeline; /* plan->n_device_slots of each device */
	void *file_image;                    /* one per writer, plan->memory.image bytes each */
	struct sl_histogram_sums histograms; /* over committed batches */
	void *histogram_block;               /* the memory of histograms */
	struct sl_image_sum image_sum;       /* the image of the run, if it makes one */
	struct sl_joined_list joined;        /* the joined file, if the run makes one */
	struct sl_rank_facts *rank;          /* n_ranks; NULL: the run has one process */
	uint32_t n_ranks;
	bool keeps_list;                  /* an earlier session has made the joined file */
	struct sl_file_contents report;   /* of run.json while the run lasts */
	struct sl_file_contents manifest; /* of the manifest after the last batch */
	const struct sl_parts_origin
		*origin; /* of a joined run; NULL: this plan computes the run */
};

/*
 * Makes the workspace of a plan, with memory for its histograms and image, but without slots. The
 * plan must outlive it. The caller closes *made, also after a failure.
 */
enum sl_status sl_workspace_open(const struct sl_plan *plan, struct sl_workspace **made);

/*
 * Allocates slots, device pipelines and file images, and makes the plan's first device current for
 * the calling thread. Slot i of the host has memory near device i modulo the number of devices.
 * SL_HOST_MEMORY or SL_DEVICE_MEMORY if the system has less than the plan found free.
 */
enum sl_status sl_workspace_allocate(struct sl_workspace *w);

/*
 * Makes a candidate's schedule the one in use, and lays out slots and device pipelines for it. No
 * batch may be in flight; what the slots held is lost. Allocates nothing but streams and events of
 * the device.
 */
enum sl_status sl_workspace_use(struct sl_workspace *w, const struct sl_candidate *candidate);

/*
 * Frees the memory of all device pipelines, so that the devices can sort the joined file. No batch may be computed
 * afterwards.
 */
void sl_workspace_free_devices(struct sl_workspace *w);

/* Frees the workspace, not the plan; w may be NULL. */
void sl_workspace_close(struct sl_workspace *w);

#endif
