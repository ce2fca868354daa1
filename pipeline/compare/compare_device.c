/*
 * compare_device.c - selects the emulated device for a comparison on a machine without a GPU.
 *
 * Without this choice, run.device: auto would select the CPU, and no device backend would be
 * checked.
 */
#include "pipeline/compare/compare_device.h"

#include <stdio.h>
#include <string.h>

#include "primitives/device/device.h"

void sl_compare_choose_device(struct sl_config *config, char reason[SL_MESSAGE_BYTES])
{
	struct sl_device device;

	reason[0] = '\0';
	if (strcmp(config->run.device, "auto") != 0 || sl_device_use(0, &device) == SL_OK)
		return;
	memcpy(reason, sl_last_error(), SL_MESSAGE_BYTES);
	snprintf(config->run.device, sizeof(config->run.device), "emulated");
}
