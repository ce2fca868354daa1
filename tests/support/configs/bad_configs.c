/* bad_configs.c - reading tests/pipeline/config/bad_configs.txt. */
#include "tests/support/configs/bad_configs.h"

#include <string.h>

static const char *const required_lines[] = {
	"run: {particles: 1e6}\n",
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}\n",
	"keep: transmitted\n",
};

FILE *bad_configs_open(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/pipeline/config/bad_configs.txt", folder);
	return fopen(path, "r");
}

static void append(char *text, const char *line)
{
	size_t used = strlen(text);

	snprintf(text + used, BAD_CONFIG_BYTES - used, "%s", line);
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n > 1 && text[n - 1] == '\n' && text[n - 2] == '\n')
		text[--n] = '\0';
	if (strcmp(text, "\n") == 0)
		*text = '\0';
}

/* Tests whether a line of text begins with the key of line. */
static bool has_key(const char *text, const char *line)
{
	size_t n = strcspn(line, ":") + 1;

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (strncmp(text, line, n) == 0)
			return true;
	return false;
}

static void complete(struct bad_config *c)
{
	trim(c->text);
	trim(c->report);
	for (size_t i = 0; c->complete && i < sizeof(required_lines) / sizeof(required_lines[0]);
		i++)
		if (!has_key(c->text, required_lines[i]))
			append(c->text, required_lines[i]);
}

static void add_set(struct bad_config *c, const char *line)
{
	size_t n = strcspn(line, "\n");

	if (n == 0 || c->n_sets == BAD_CONFIG_SETS)
		return;
	snprintf(c->set_text[c->n_sets], sizeof(c->set_text[0]), "%.*s", (int)n, line);
	c->set[c->n_sets] = c->set_text[c->n_sets];
	c->n_sets++;
}

static void begin(struct bad_config *c)
{
	c->complete = c->next[1] == '=';
	snprintf(c->title, sizeof(c->title), "%.*s", (int)strcspn(c->next + 3, "\n"), c->next + 3);
	c->next[0] = c->text[0] = c->report[0] = '\0';
	c->n_sets = 0;
}

bool bad_configs_next(FILE *f, struct bad_config *c)
{
	enum { TEXT, SETS, REPORT } part = TEXT;
	char line[2048];
	bool begun = c->next[0] != '\0';

	if (begun)
		begin(c);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "== ", 3) == 0 || strncmp(line, "=! ", 3) == 0) {
			snprintf(c->next, sizeof(c->next), "%.255s", line);
			if (begun)
				break;
			begun = true;
			begin(c);
		} else if (!begun || strncmp(line, "# ---", 5) == 0) {
			continue;
		} else if (strcmp(line, "-- set\n") == 0) {
			part = SETS;
		} else if (strcmp(line, "-- report\n") == 0) {
			part = REPORT;
		} else if (part == SETS) {
			add_set(c, line);
		} else {
			append(part == TEXT ? c->text : c->report, line);
		}
	}
	if (begun)
		complete(c);
	return begun;
}
