/*
 * device.h - resolves run.device: the devices that compute the batches, or the CPU.
 */
#ifndef SL_PIPELINE_RESOLVE_EXECUTION_DEVICE_H
#define SL_PIPELINE_RESOLVE_EXECUTION_DEVICE_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets device, n_devices, device_number and device_reason, and makes the first device current for the
 * calling thread. Of several ranks on a machine (c->share), each gets other devices, or shares one if there
 * are more ranks than devices: device_users. An unknown name adds a problem. The result for a device that is
 * named but cannot be used is SL_NO_DEVICE or SL_USAGE; choices->device then stays SL_ON_AUTO.
 */
enum sl_status sl_resolve_device(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/* Writes where the run computes and why, for messages. Returns text. */
const char *sl_device_text(const struct sl_choices *choices, char *text, size_t size);

#endif
