/* rounds_device.h - the advance stage in rounds, on a device. */
#ifndef SL_STAGES_DEVICE_ROUNDS_DEVICE_H
#define SL_STAGES_DEVICE_ROUNDS_DEVICE_H

#include "primitives/base/status.h"

struct sl_recipe;
struct sl_device_pipeline;

/*
 * Advances the batch of the pipeline until no particle is alive. Once per round the host waits for
 * the number of particles that are still alive.
 */
enum sl_status sl_device_pipeline_rounds(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline);

#endif
