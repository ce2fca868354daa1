/*
 * shipped_configs.c - the configurations in data/configs are read, and each is refused with any key misspelt. Repeated
 * keys are refused whatever they are (text/yaml.c).
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/text/yaml.h"
#include "primitives/files/read.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/configs/configs.h"

/* The colon after the next key that begins at or after text, or NULL. */
static const char *next_key(const char *text)
{
	for (; *text; text++) {
		if (*text == '#')
			text += strcspn(text, "\n") - 1;
		else if (*text == ':' && isspace((unsigned char)text[1]))
			return text;
	}
	return NULL;
}

static void misspell_every_key(const char *name, const char *text)
{
	char edited[1 << 16];
	struct sl_reader *r;
	int n = 0;

	if (resolve_text(text, NULL, 0, &r) != SL_OK)
		fail_msg("%s is refused:\n%s", name, sl_config_report(r));
	sl_config_close(r);
	for (const char *at = text; (at = next_key(at)) != NULL; at++, n++) {
		snprintf(edited, sizeof(edited), "%.*s_qqqqqqqqqqqq%s", (int)(at - text), text, at);
		if (resolve_text(edited, NULL, 0, &r) != SL_USAGE || sl_config_problems(r) == 0)
			fail_msg("%s is not refused:\n%s", name, edited);
		sl_config_close(r);
	}
	assert_true(n > 5);
}

TEST(misspelt_keys_of_shipped_configs_are_refused)
{
	char folder[4096], path[8192];
	struct dirent *entry;
	int n = 0;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/data/configs", source_root());
	d = opendir(folder);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		char *text;
		size_t bytes;

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		assert_ok(sl_path_read(path, SL_YAML_BYTES, &text, &bytes));
		misspell_every_key(entry->d_name, text);
		sl_memory_give(SL_HOST, text);
		n++;
	}
	closedir(d);
	assert_true(n > 0);
}
