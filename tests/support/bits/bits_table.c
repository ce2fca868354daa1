/* bits_table.c - see bits_table.h. */
#include "tests/support/bits/bits_table.h"

#include <stdio.h>
#include <string.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

bool bits_line_has(const struct bits_line *line, const char *flag)
{
	const char *at = strstr(line->flags, flag);
	char after = at ? at[strlen(flag)] : 0;

	return at && (at == line->flags || at[-1] == ' ') && (after == ' ' || after == '\0');
}

/* "= TITLE | PARTICLES BATCH | FLAGS" */
static void read_title(char *text, struct bits_line *line)
{
	memset(line, 0, sizeof(*line));
	if (sscanf(text, "= %63[^|]| %u %u |%63[^\n]", line->title, &line->particles, &line->batch,
		    line->flags) < 3)
		fail_msg("not a title: %s", text);
	line->title[strlen(line->title) - 1] = '\0';
}

/* "+K SETTING" is one of choice K. */
static void read_choice(char *text, struct bits_line *line)
{
	size_t k = (size_t)(text[1] - '0');

	assert_true(k < BITS_CHOICES && line->n[k] < BITS_CHOICE_MAX);
	line->choice[k][line->n[k]++] = text + 3;
}

static size_t add_shipped(struct bits_line *line, size_t n)
{
	static struct configs all;

	configs_list(&all);
	for (size_t i = 0; i < all.n; i++) {
		char path[CONFIG_PATH_BYTES];

		if (!sl_sampling_selects())
			continue;
		assert_true(n < BITS_LINES_MAX && strlen(all.name[i]) < sizeof(line->title));
		memset(&line[n], 0, sizeof(*line));
		strcpy(line[n].title, all.name[i]);
		config_path(all.name[i], path);
		assert_true(strlen(path) < sizeof(line->text));
		strcpy(line[n].text, path);
		line[n].particles = 1000;
		line[n].batch = 397;
		line[n++].shipped = true;
	}
	return n;
}

size_t bits_table_read(char *table, struct bits_line line[BITS_LINES_MAX])
{
	size_t n = 0;

	for (char *at = strtok(table, "\n"); at; at = strtok(NULL, "\n")) {
		if (*at == '#')
			continue;
		if (*at == '=') {
			assert_true(n < BITS_LINES_MAX);
			read_title(at, &line[n++]);
		} else if (*at == '+') {
			read_choice(at, &line[n - 1]);
		} else {
			char *text = line[n - 1].text;

			assert_true(strlen(text) + strlen(at) + 2 < BITS_TEXT_BYTES);
			strcat(strcat(text, at), "\n");
		}
	}
	return add_shipped(line, n);
}
