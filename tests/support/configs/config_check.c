/* config_check.c - see config_check.h. */
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "tests/support/configs/config_check.h"

#include "primitives/device/device.h"

struct sl_config config;
struct sl_choices choices;

enum sl_status resolve_text(
	const char *text, const char *const *sets, size_t n_sets, struct sl_reader **r)
{
	enum sl_status s = sl_config_open_text("c", text, strlen(text), sets, n_sets, &config, r);

	sl_device_emulate(
		false); /* as in a new process: an earlier configuration can have selected the emulator */
	return s == SL_OK ? sl_resolve(&config, *r, &choices) : s;
}

void resolve_good_text(const char *text)
{
	struct sl_reader *r;

	assert_ok(resolve_text(text, NULL, 0, &r));
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
}
