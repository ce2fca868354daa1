/*
 * compare_device.c - selects the emulated device for a comparison on a machine without a GPU.
 *
 * Without this choice, run.device: auto would select the CPU, and no device backend would be
 * checked. The reason is stored here because the configuration has no field for it.
 */
#include "pipeline/compare/compare_device.h"

#include <stdio.h>
#include <string.h>

#include "primitives/device/device.h"

static char no_gpu[SL_MESSAGE_BYTES];

void sl_compare_choose_device(struct sl_config *config)
{
	struct sl_device device;

	if (strcmp(config->run.device, "auto") != 0 || sl_device_use(0, &device) == SL_OK)
		return;
	memcpy(no_gpu, sl_last_error(), sizeof(no_gpu));
	snprintf(config->run.device, sizeof(config->run.device), "emulated");
}

const char *sl_compare_device_reason(void)
{
	return no_gpu;
}
