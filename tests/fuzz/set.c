/*
 * set.c - libFuzzer target: arbitrary NUL-terminated texts as --set KEY=VALUE, over a small configuration.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/resolve/resolve.h"

enum { SETS_MAX = 8 };

static const char file[] = "run: {particles: 10}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n";

static struct sl_config config;
static struct sl_choices choices;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = (char *)malloc(size + 1);
	const char *sets[SETS_MAX];
	struct sl_reader *r;
	size_t n = 0;
	enum sl_status s;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (size_t at = 0; at < size && n < SETS_MAX; at += strlen(copy + at) + 1)
		sets[n++] = copy + at;
	sl_device_emulate(false); /* each input as in a new process */
	s = sl_config_open_text("c", file, sizeof(file) - 1, sets, n, &config, &r);
	if (s == SL_OK)
		s = sl_resolve(&config, r, &choices);
	fuzz_expect(s == SL_OK || s == SL_USAGE || s == SL_NO_DEVICE || s == SL_BAD_INPUT);
	fuzz_expect((s == SL_USAGE) == (sl_config_problems(r) > 0));
	sl_config_close(r);
	free(copy);
	return 0;
}
