/* config_check.c - see config_check.h. */
#include "tests/support/configs/config_check.h"
#include "pipeline/config/reader/reader.h"

#include "primitives/device/device.h"

struct sl_config config;
struct sl_choices choices;

enum sl_status resolve_text(
	const char *text, const char *const *sets, size_t n_sets, struct sl_reader **r)
{
	enum sl_status s = sl_config_open_text("c", text, strlen(text), sets, n_sets, &config, r);

	/* as in a new process: an earlier configuration can have selected the emulator */
	sl_device_emulate(false);
	return s == SL_OK ? sl_resolve(&config, *r, &choices) : s;
}

void resolve_good_text(const char *text)
{
	resolve_good_sets(text, (const char *const[]){NULL});
}

void resolve_good_sets(const char *text, const char *const *sets)
{
	struct sl_reader *r;
	size_t n = 0;

	while (sets[n])
		n++;
	if (resolve_text(text, sets, n, &r) != SL_OK || sl_config_problems(r) > 0)
		fail_msg("%s%s", sl_last_error(), sl_config_report(r));
	sl_config_close(r);
}

struct sl_plan *plan_of_sets(const char *text, const char *const *sets)
{
	struct sl_plan *plan;

	resolve_good_sets(text, sets);
	assert_ok(sl_plan_make(&config, &choices, &plan));
	return plan;
}
