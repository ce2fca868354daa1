/*
 * config.c - fuzz target: reads arbitrary bytes as a configuration and as texts of --set.
 *
 * The bytes before the first NUL are the file; the NUL-terminated texts after it are --set texts.
 * An accepted configuration is printed; the printed text must be accepted and print the same text.
 * Its condition, derived columns and keys are computed for a particle.
 */
#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/resolve.h"
#include "tests/fuzz/fuzz.h"

enum { SETS_MAX = 8, PAGE_BYTES = 1 << 17 };

static struct sl_config config;
static struct sl_choices choices;

/* Reads and resolves a configuration; returns true if it is accepted. */
static bool is_accepted(const char *text, size_t bytes, const char *const *sets, size_t n_sets)
{
	struct sl_reader *r;
	enum sl_status s = sl_config_open_text("c", text, bytes, sets, n_sets, &config, &r);

	sl_device_emulate(false); /* each input as in a new process */
	if (s == SL_OK)
		s = sl_resolve(&config, r, &choices);
	fuzz_expect((s == SL_USAGE) == (sl_config_problems(r) > 0));
	fuzz_expect(s == SL_OK || s == SL_USAGE || s == SL_NO_DEVICE || s == SL_BAD_INPUT);
	fuzz_expect(s != SL_USAGE || strchr(sl_config_report(r), '\n'));
	sl_config_close(r);
	return s == SL_OK;
}

static void compute(void)
{
	struct sl_particle p = {.x = 1, .w = 0.5f, .id = 7};
	const struct sl_columns c = sl_columns_of(&p);

	sl_derive_particle(&choices.derivation, &p);
	sl_condition_holds(&choices.condition, &c, 0, 7, SL_FATE_transmitted);
	for (uint32_t k = 0; k < choices.n_fields; k++)
		sl_key_rule_make(&choices.field[k]);
}

FUZZ(config)
{
	static char page[PAGE_BYTES], again[PAGE_BYTES];
	char *copy = fuzz_text(data, size);
	const char *sets[SETS_MAX];
	size_t bytes = strlen(copy), n_sets = 0;

	for (size_t at = bytes + 1; at < size && n_sets < SETS_MAX; at += strlen(copy + at) + 1)
		sets[n_sets++] = copy + at;
	if (is_accepted(copy, bytes, sets, n_sets)) {
		compute();
		bytes = sl_config_print(&config, true, page, sizeof(page));
		fuzz_expect(bytes < sizeof(page) && is_accepted(page, bytes, NULL, 0));
		sl_config_print(&config, true, again, sizeof(again));
		fuzz_expect(strcmp(page, again) == 0);
	}
	free(copy);
}
