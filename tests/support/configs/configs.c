/* configs.c - see configs.h. */
#include "tests/support/configs/configs.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"

const char *source_root(void)
{
	const char *path = getenv("SLUICE_SOURCE");

	return path ? path : ".";
}

FILE *open_source(const char *name)
{
	char path[CONFIG_PATH_BYTES];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", source_root(), name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	return f;
}

bool next_line(FILE *f, char line[LINE_BYTES])
{
	while (fgets(line, LINE_BYTES, f)) {
		assert_true(strlen(line) < LINE_BYTES - 1);
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0' && line[0] != '#')
			return true;
	}
	return false;
}

void configs_list(struct configs *c)
{
	char path[CONFIG_PATH_BYTES];
	glob_t found;

	config_path("*", path);
	assert_int_equal(glob(path, 0, NULL, &found), 0);
	assert_true(found.gl_pathc > 0 && found.gl_pathc <= CONFIGS_MAX);
	for (c->n = 0; c->n < found.gl_pathc; c->n++) {
		const char *name = strrchr(found.gl_pathv[c->n], '/') + 1;

		snprintf(c->name[c->n], CONFIG_NAME_BYTES, "%.*s", (int)strcspn(name, "."), name);
	}
	globfree(&found);
}

void config_path(const char *name, char path[CONFIG_PATH_BYTES])
{
	snprintf(path, CONFIG_PATH_BYTES, "%s/data/configs/%s.yaml", source_root(), name);
}
