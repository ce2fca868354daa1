/* device.h - a batch on a device */
#ifndef SL_STAGES_DEVICE_DEVICE_H
#define SL_STAGES_DEVICE_DEVICE_H

#include "primitives/base/status.h"
#include "stages/host/host.h"

/* --- rounds_device ---------------------------------------------------------------------------- */

/* The advance stage in rounds, on a device. */

struct sl_recipe;
struct sl_device_pipeline;

/*
 * Advances the batch of the pipeline until no particle is alive. Once per round the host waits for
 * the number of particles that are still alive.
 */
enum sl_status sl_device_pipeline_rounds(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline);

/* Queues all steps of the filter that the batch of the pipeline is (rounds/resample.h). */
enum sl_status sl_device_pipeline_filter(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline);

/* --- pack_run --------------------------------------------------------------------------------- */

/* Packs the survivors of one batch on a device, and copies them to the host. */

struct sl_batch;
struct sl_recipe;
struct sl_device_pipeline;

/*
 * Packs the table of the pipeline's batch and queues the copy of the packed bytes to
 * b->device_packed. The host waits for the sizes before it queues the copy.
 */
enum sl_status sl_device_pipeline_pack(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b);

/* --- device_modes ----------------------------------------------------------------------------- */

/*
 * The two modes in which a device runs a batch. Both give the same bytes.
 *
 * 	staged    generate -> advance -> mark -> compact | sort -> write
 * 	fused     select                                 | sort -> write
 *
 * In staged mode each stage is a separate kernel, with the backends that the recipe names. Stages
 * and backends are tested and compared in this mode. In fused mode only survivors are written to
 * memory (select.cu, gather_rows.cu), which is faster.
 *
 * At the mark "|" the host waits for the number of survivors, unless the batch is queued as a whole
 * (device_pipeline.h). Otherwise the host waits only in rounds (rounds.h), for the number of alive
 * particles.
 */

struct sl_device_pipeline;

/* One stage: queues its work on the stream of the pipeline and returns. */
struct sl_step {
	enum sl_stage_number stage;
	enum sl_status (*queue)(const struct sl_recipe *r, struct sl_device_pipeline *pipeline);
};

struct sl_device_mode {
	const char *name;
	/*
	 * Lays out the device memory for batches of at most n particles: the pointers of the
	 * pipeline's batch, and the scratch that the steps share.
	 */
	void (*lay_out)(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
		struct sl_device_pipeline *pipeline);
	enum sl_stage_number marks,
		compacts; /* the stages after which fates, and survivors, are known */
	int n_counted;    /* steps before the host waits */
	uint32_t whole_per_multiprocessor; /* particles per multiprocessor up to which a batch is
	                                     queued as a whole; 0: never */
	int n;                             /* all steps */
	struct sl_step step[SL_STAGE_COUNT];
};

/* Queues the kernel that advances the active set of b, with the scores of the recipe. */
enum sl_status sl_device_pipeline_advance(const struct sl_recipe *r,
	struct sl_device_pipeline *pipeline, const struct sl_batch *b, uint64_t *alive);

/* Queues the kernels that count the batch in the tallies of ends, or in those of each step. */
enum sl_status sl_device_pipeline_count(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, bool each_step);

extern const struct sl_device_mode sl_device_modes[SL_MODE_COUNT];

#endif
