/* device.c - opens the devices that run.device names; auto falls back to the CPU. */
#include "pipeline/resolve/execution/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/emulator/settings.h"

enum { DIGITS_MAX = 4 }; /* in the number of a device */

/* The devices that a text names. */
struct named {
	enum sl_device_choice choice;
	bool all;   /* all devices of the machine; number is not set */
	uint32_t n; /* 0: none */
	int twice;  /* a number that occurs twice, or -1 */
	int number[SL_DEVICES_MAX];
};

/* Reads a number of at most DIGITS_MAX digits, and moves *text to its end. -1: there is none. */
static int read_number(const char **text)
{
	size_t digits = strspn(*text, "0123456789");
	int number = (int)strtol(*text, NULL, 10);

	*text += digits;
	return digits > 0 && digits <= DIGITS_MAX ? number : -1;
}

/* Reads "0" or "0,2"; false for any other text. A machine has no more than SL_DEVICES_MAX. */
static bool read_numbers(const char *text, struct named *d)
{
	for (;; text++) {
		int number = read_number(&text);

		if (number < 0 || (*text != ',' && *text != '\0') || d->n == SL_DEVICES_MAX)
			return false;
		for (uint32_t i = 0; i < d->n; i++)
			d->twice = d->number[i] == number ? number : d->twice;
		d->number[d->n++] = number;
		if (*text == '\0')
			return true;
	}
}

/* Reads "cuda", "cuda:N", "cuda:N,M" or "cuda:all"; false for any other text. */
static bool read_cuda(const char *text, struct named *d)
{
	d->choice = SL_ON_CUDA;
	if (strcmp(text, "cuda") == 0)
		return read_numbers("0", d);
	if (strcmp(text, "cuda:all") == 0)
		return d->all = true;
	return strncmp(text, "cuda:", strlen("cuda:")) == 0 &&
	       read_numbers(text + strlen("cuda:"), d);
}

/* Names the first n devices. */
static void name_first(struct named *d, int n)
{
	for (d->n = 0; d->n < (uint32_t)n; d->n++)
		d->number[d->n] = (int)d->n;
}

/* Reads "emulated", or "emulated:N" for N devices; false for any other text. */
static bool read_emulated(const char *text, struct named *d)
{
	const char *digits = text + strlen("emulated:");
	int n;

	d->choice = SL_ON_EMULATED;
	if (strcmp(text, "emulated") == 0)
		digits = "1";
	else if (strncmp(text, "emulated:", strlen("emulated:")) != 0)
		return false;
	n = read_number(&digits);
	if (*digits != '\0' || n < 1 || n > SL_DEVICES_MAX)
		return false;
	name_first(d, n);
	return true;
}

/*
 * Of several ranks that see the same devices each takes others; more ranks than devices share them.
 * Returns the largest number of ranks of a device.
 */
static uint32_t take_share(const struct sl_share *share, struct named *d)
{
	uint32_t all = d->n, n = 0;

	if (share->devices_of < 2 || all == 0)
		return 1;
	if (share->devices_of >= all) {
		d->number[0] = d->number[share->device_number % all];
		d->n = 1;
		return (share->devices_of + all - 1) / all;
	}
	for (uint32_t i = share->device_number; i < all; i += share->devices_of)
		d->number[n++] = d->number[i];
	d->n = n;
	return 1;
}

/*
 * Opens the devices, because the available backends and tunings depend on them. The first one is
 * opened last, because it is the current one afterwards.
 */
static enum sl_status use_devices(struct sl_resolver *v, struct named *d)
{
	struct sl_choices *choices = v->to;
	struct sl_device device;
	const char *problem = NULL;
	int n;

	if (d->choice == SL_ON_CUDA && choices->model && choices->model->digest &&
		!choices->model->cuda.generate)
		return sl_fail(SL_NO_DEVICE,
			"model %s was built without CUDA; build it again where nvcc is, or use --device cpu",
			choices->model->name);
	/* emulation is a property of the process; it is set before the device is opened */
	sl_device_emulate(d->choice == SL_ON_EMULATED);
	if (d->choice == SL_ON_EMULATED)
		problem = sl_emulator_settings_problem();
	if (problem)
		return sl_fail(SL_USAGE, "%s", problem);
	if (d->all) {
		SL_TRY(sl_device_count(&n));
		name_first(d, n);
	}
	choices->device_users = take_share(&v->c->share, d);
	for (uint32_t i = d->n; i-- > 0;)
		SL_TRY(sl_device_use(d->number[i], &device));
	choices->device = d->choice;
	choices->n_devices = d->n;
	memcpy(choices->device_number, d->number, sizeof(d->number));
	return SL_OK;
}

/* Adds the problem of a text that names no device. */
static void refuse(struct sl_resolver *v, const char *text)
{
	const char *why = "";

	if (strncmp(text, "cuda", strlen("cuda")) == 0)
		why = ": cuda: is followed by all, or by numbers from 0, such as 0,2";
	else if (strncmp(text, "emulated", strlen("emulated")) == 0)
		why = sl_said(": N in emulated:N is a number of devices, 1 to %d", SL_DEVICES_MAX);
	sl_config_add_problem(v->r, "run.device",
		"%s is not a device%s; use auto, cpu, cuda:0, cuda:all or emulated", sl_shown(text),
		why);
}

/*
 * auto opens device 0, of several ranks each its devices; or chooses the CPU and records the
 * reason.
 */
enum sl_status sl_resolve_device(struct sl_resolver *v)
{
	const char *text = v->c->run.device;
	const bool several = v->c->share.of > 1;
	struct named d = {.twice = -1};

	if (strcmp(text, "auto") == 0) {
		d.choice = sl_device_is_emulated() ? SL_ON_EMULATED : SL_ON_CUDA;
		d.all = several;
		d.n = 1;
		if (use_devices(v, &d) == SL_OK)
			return SL_OK;
		v->to->device = SL_ON_CPU;
		snprintf(v->to->device_reason, sizeof(v->to->device_reason), "%s", sl_last_error());
	} else if (strcmp(text, "cpu") == 0) {
		v->to->device = SL_ON_CPU;
	} else if (!read_emulated(text, &d) && !read_cuda(text, &d)) {
		refuse(v, text);
	} else if (d.twice >= 0) {
		sl_config_add_problem(v->r, "run.device",
			"names device %d twice, but batches go to each device once; name it once",
			d.twice);
	} else {
		d.all |= several && strcmp(text, "cuda") == 0;
		return use_devices(v, &d);
	}
	return SL_OK;
}

const char *sl_device_text(const struct sl_choices *choices)
{
	const char *message = choices->device_reason;

	if (choices->n_devices > 1)
		return sl_said("this run computes on %u %s devices", choices->n_devices,
			choices->device == SL_ON_EMULATED ? "emulated" : "CUDA");
	if (choices->device == SL_ON_EMULATED)
		return "this run computes on the emulated device";
	if (choices->device == SL_ON_CUDA)
		return sl_said("this run computes on CUDA device %d", choices->device_number[0]);
	message = *message ? message : "run.device is cpu";
	return sl_said("this run computes on the CPU: %.*s", (int)strcspn(message, ";"), message);
}
