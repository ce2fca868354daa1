/* physics_run.c - see physics_run.h. */
#include "tests/support/tallies/physics_run.h"

#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

struct sl_yaml *report;

void physics_begin(const char *config, const char *full, const char *quick)
{
	char path[CONFIG_PATH_BYTES];

	folder_make(&folder);
	config_path(config, path);
	expect(&folder, SL_OK, "",
		WORDS("run", path, "--out", "out", "--quiet", "--set", is_quick() ? quick : full));
	report = report_of(&folder, "out");
}

void physics_end(void)
{
	sl_yaml_free(report);
}
