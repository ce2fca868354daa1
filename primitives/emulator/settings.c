/* settings.c - reads SL_EMULATOR, once per process. See settings.h. */
#include "settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/base/size.h"

enum { TEXT_BYTES = 256 };

static const struct sl_emulator_settings defaults = {.blocks = 1, .memory_bytes = (size_t)1 << 30};
static struct sl_emulator_settings settings;
static char problem[2 * TEXT_BYTES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Reads "7", or with units "64M". False if text is anything else, or exceeds most. */
static bool read_number(const char *text, bool with_units, uint64_t most, uint64_t *n)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t unit = 1;

	if (digits == 0 || digits > 18)
		return false;
	*n = strtoull(text, NULL, 10);
	text += digits;
	if (with_units && *text && strchr("KMG", *text))
		unit = UINT64_C(1) << (*text == 'K' ? 10 : *text == 'M' ? 20 : 30), text++;
	*n = sl_size_mul(*n, unit);
	return *text == '\0' && *n <= most;
}

/* Reads one setting such as "blocks=4". False if it is unknown or malformed. */
static bool read_setting(const char *word, struct sl_emulator_settings *c)
{
	const char *value = strchr(word, '=');
	uint64_t n = 0;
	bool read = false;

	if (!value++)
		return false;
	if (strcmp(word, "start=last") == 0)
		return c->from_last = true;
	if (strcmp(word, "queue=now") == 0)
		return c->at_once = true;
	if (strcmp(word, "device=turing") == 0)
		return c->turing = true;
	if (strncmp(word, "blocks=", 7) == 0) {
		read = read_number(value, false, SL_EMULATED_BLOCKS_MAX, &n) && n > 0;
		c->blocks = (uint32_t)n;
	} else if (strncmp(word, "seed=", 5) == 0) {
		read = read_number(value, false, UINT64_MAX, &n);
		c->seed = n;
	} else if (strncmp(word, "memory=", 7) == 0) {
		read = read_number(value, true, SIZE_MAX / 2, &n) && n > 0;
		c->memory_bytes = (size_t)n;
	}
	return read;
}

static void refuse(const char *what)
{
	snprintf(problem, sizeof(problem),
		"SL_EMULATOR: \"%s\" is not a setting; use blocks=1..%d, seed=N, start=last, memory=N "
		"(with K, M or G), queue=now or device=turing, separated by commas, or unset it",
		what, SL_EMULATED_BLOCKS_MAX);
	settings = defaults;
}

static void read_settings(void)
{
	const char *text = getenv("SL_EMULATOR");
	char copy[TEXT_BYTES], *rest = copy;

	settings = defaults;
	if (!text || !text[0])
		return;
	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		refuse(copy);
	else
		for (char *word; (word = strsep(&rest, ",")) != NULL;)
			if (!read_setting(word, &settings)) {
				refuse(word);
				return;
			}
}

const struct sl_emulator_settings *sl_emulator_get_settings(void)
{
	pthread_once(&once, read_settings);
	return &settings;
}

void sl_emulator_set_settings(const struct sl_emulator_settings *c)
{
	pthread_once(&once, read_settings);
	settings = *c;
}

const char *sl_emulator_settings_problem(void)
{
	pthread_once(&once, read_settings);
	return problem[0] ? problem : NULL;
}
