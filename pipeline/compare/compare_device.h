/* compare_device.h - the device of a comparison where there is no GPU. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_DEVICE_H
#define SL_PIPELINE_COMPARE_COMPARE_DEVICE_H

#include "pipeline/config/config.h"

/* If run.device is auto and there is no GPU, makes it the emulated device. */
void sl_compare_choose_device(struct sl_config *config);

/* Why the emulated device was chosen; "" if it was not. */
const char *sl_compare_device_reason(void);

#endif
