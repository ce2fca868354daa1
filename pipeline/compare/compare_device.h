/* compare_device.h - selects the emulated device for a comparison on a machine without a GPU. */
#ifndef SL_PIPELINE_COMPARE_COMPARE_DEVICE_H
#define SL_PIPELINE_COMPARE_COMPARE_DEVICE_H

#include "pipeline/config/config.h"

/* If run.device is auto and no GPU can be used, sets run.device to emulated. */
void sl_compare_choose_device(struct sl_config *config);

/* The reason why no GPU can be used; "" if the emulated device was not chosen. Static storage. */
const char *sl_compare_device_reason(void);

#endif
