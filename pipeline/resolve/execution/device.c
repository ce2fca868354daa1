/* device.c - opens the device that run.device names; auto falls back to the CPU. */
#include "pipeline/resolve/execution/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/text/messages.h"
#include "primitives/emulator/settings.h"

enum { DIGITS_MAX = 4 }; /* in the number of a device */

/* The ordinal of "cuda" (0) or "cuda:N"; -1 for any other text. */
static int cuda_number(const char *text)
{
	const char *digits = text + strlen("cuda:");

	if (strcmp(text, "cuda") == 0)
		return 0;
	if (strncmp(text, "cuda:", strlen("cuda:")) != 0 || *digits == '\0' ||
		strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > DIGITS_MAX)
		return -1;
	return (int)strtol(digits, NULL, 10);
}

/*
 * Opens the device, because the available backends and tunings depend on it. The emulated device has
 * number 0.
 */
static enum sl_status use_device(
	struct sl_choices *choices, enum sl_device_choice choice, int number)
{
	struct sl_device device;
	const char *problem = NULL;

	/* emulation is a property of the process; it is set before the device is opened */
	sl_device_emulate(choice == SL_ON_EMULATED);
	if (choice == SL_ON_EMULATED)
		problem = sl_emulator_settings_problem();
	if (problem)
		return sl_fail(SL_USAGE, "%s", problem);
	SL_TRY(sl_device_use(number, &device));
	choices->device = choice;
	choices->device_number = number;
	return SL_OK;
}

/* auto: opens device 0, or chooses the CPU and records the reason. */
static void find_device(struct sl_choices *choices)
{
	bool emulated = sl_device_is_emulated();

	if (use_device(choices, emulated ? SL_ON_EMULATED : SL_ON_CUDA, 0) == SL_OK)
		return;
	choices->device = SL_ON_CPU;
	snprintf(choices->device_reason, sizeof(choices->device_reason), "%s", sl_last_error());
}

enum sl_status sl_resolve_device(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	const char *text = c->run.device;
	int number = cuda_number(text);
	char shown[SL_SHOWN_BYTES];

	if (number >= 0)
		return use_device(choices, SL_ON_CUDA, number);
	if (strcmp(text, "emulated") == 0)
		return use_device(choices, SL_ON_EMULATED, 0);
	if (strcmp(text, "auto") == 0)
		find_device(choices);
	else if (strcmp(text, "cpu") == 0)
		choices->device = SL_ON_CPU;
	else
		sl_config_add_problem(r, "run.device",
			"%s is not a device%s; use auto, cpu, cuda:0 or emulated",
			sl_show(shown, text),
			strncmp(text, "cuda", 4) == 0 ? ": N in cuda:N is a number from 0" : "");
	return SL_OK;
}

const char *sl_device_text(const struct sl_choices *choices, char *text, size_t size)
{
	const char *message = choices->device_reason;

	if (choices->device == SL_ON_EMULATED)
		snprintf(text, size, "this run computes on the emulated device");
	else if (choices->device == SL_ON_CUDA)
		snprintf(text, size, "this run computes on CUDA device %d", choices->device_number);
	else
		snprintf(text, size, "this run computes on the CPU: %.*s",
			*message ? (int)strcspn(message, ";") : (int)size,
			*message ? message : "run.device is cpu");
	return text;
}
