/* compare_device.h - selects the emulated device for a comparison on a machine without a GPU. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_DEVICE_H
#define SL_PIPELINE_COMPARE_COMPARE_DEVICE_H

#include "pipeline/config/config.h"

/*
 * If run.device is auto and no GPU can be used, sets run.device to emulated and reason to the error of
 * the GPU; else reason to "".
 */
void sl_compare_choose_device(struct sl_config *config, char reason[SL_MESSAGE_BYTES]);

#endif
