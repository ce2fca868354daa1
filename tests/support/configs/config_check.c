/* config_check.c - see config_check.h. */
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "tests/support/configs/config_check.h"

#include "primitives/device/device.h"

struct sl_config config;
struct sl_choices choices;

enum sl_status take(const char *text, const char *const *sets, size_t n_sets, struct sl_reader **r)
{
	enum sl_status s = sl_config_open_text("c", text, strlen(text), sets, n_sets, &config, r);

	sl_device_emulate(false); /* as a new process; what was emulated before would stay */
	return s == SL_OK ? sl_resolve(&config, *r, &choices) : s;
}

void take_good(const char *text)
{
	struct sl_reader *r;

	assert_ok(take(text, NULL, 0, &r));
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
}
