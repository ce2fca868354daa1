/* pack_run.h - packs the survivors of one batch on a device, and copies them to the host. */
#ifndef SL_STAGES_DEVICE_PACK_RUN_H
#define SL_STAGES_DEVICE_PACK_RUN_H

#include "primitives/base/status.h"

struct sl_batch;
struct sl_recipe;
struct sl_device_pipeline;

/*
 * Packs the table of the pipeline's batch and queues the copy of the packed bytes to
 * b->device_packed. The host waits for the sizes before it queues the copy.
 */
enum sl_status sl_device_pipeline_pack(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b);

#endif
