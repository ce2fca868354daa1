/* compare_device.c - compares on the emulated device where there is no GPU. */
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
