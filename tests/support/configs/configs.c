/* configs.c - see configs.h. */
#include "tests/support/configs/configs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"

static const char suffix[] = ".yaml";

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

static int by_suffix(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n >= strlen(suffix) && strcmp(entry->d_name + n - strlen(suffix), suffix) == 0;
}

void configs_list(struct configs *c)
{
	char folder[CONFIG_PATH_BYTES];
	struct dirent **entry;
	int n;

	snprintf(folder, sizeof(folder), "%s/data/configs", source_root());
	n = scandir(folder, &entry, by_suffix, alphasort);
	assert_true(n > 0 && n <= CONFIGS_MAX);
	c->n = (size_t)n;
	for (size_t i = 0; i < c->n; i++) {
		snprintf(c->name[i], CONFIG_NAME_BYTES, "%.*s",
			(int)(strlen(entry[i]->d_name) - strlen(suffix)), entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
}

void config_path(const char *name, char path[CONFIG_PATH_BYTES])
{
	snprintf(path, CONFIG_PATH_BYTES, "%s/data/configs/%s%s", source_root(), name, suffix);
}
