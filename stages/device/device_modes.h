/*
 * device_modes.h - the two ways to run a batch on a device. The same bytes come out.
 *
 *	staged    generate -> advance -> mark -> compact | sort -> write
 *	fused     sieve                                  | sort -> write
 *
 * Staged, each stage is a kernel of its own, with the backends that the recipe names: what one
 * reads, tests and compares. Fused, no dead particle touches memory (select.cu, gather_rows.cu): what one
 * runs. At the bar the host waits for the number of survivors, unless the batch is queued whole
 * (device_pipeline.h); what is queued on either side of it asks the host for nothing, but rounds (rounds.h)
 * for the number of the living.
 */
#ifndef SL_STAGES_DEVICE_DEVICE_MODES_H
#define SL_STAGES_DEVICE_DEVICE_MODES_H

#include "stages/host/host_pipeline.h"

struct sl_device_pipeline;

/* A stage, queued on the pipeline's stream. */
struct sl_step {
	enum sl_stage_number stage;
	enum sl_status (*queue)(const struct sl_recipe *r, struct sl_device_pipeline *pipeline);
};

struct sl_device_mode {
	const char *name;
	/*
	 * Cuts from device what batches of at most n particles need, and sets the pointers of the
	 * pipeline's batch, and its scratch, which the steps share.
	 */
	void (*lay_out)(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
		struct sl_device_pipeline *pipeline);
	enum sl_stage_number marks, compacts; /* who knows the fates, and the survivors */
	int n_counted;                        /* steps before the wait */
	uint32_t whole_per_multiprocessor;    /* particles a multiprocessor up to which a batch is
	                                         queued whole */
	int n;                                /* steps in all */
	struct sl_step step[SL_STAGE_COUNT];
};

extern const struct sl_device_mode sl_device_modes[SL_MODE_COUNT];

#endif
