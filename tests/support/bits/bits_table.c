/* bits_table.c - see bits_table.h. */
#include "tests/support/bits/bits_table.h"

#include <stdio.h>
#include <string.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

bool bits_has(const char *flags, const char *flag)
{
	const size_t bytes = strlen(flag);

	for (const char *at = flags; (at = strstr(at, flag)) != NULL; at += bytes)
		if ((at == flags || at[-1] == ' ') && (at[bytes] == ' ' || at[bytes] == '\0'))
			return true;
	return false;
}

/* "= TITLE | PARTICLES BATCH | FLAGS" */
static void read_title(char *text, struct bits_line *line)
{
	memset(line, 0, sizeof(*line));
	if (sscanf(text, "= %63[^|]| %u %u |%127[^\n]", line->title, &line->particles, &line->batch,
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

static void add_shipped(struct bits_table *t)
{
	static struct configs all;

	configs_list(&all);
	for (size_t i = 0; i < all.n; i++) {
		struct bits_line *line = &t->line[t->lines];
		char path[CONFIG_PATH_BYTES];

		if (!sl_sampling_selects())
			continue;
		config_path(all.name[i], path);
		assert_true(t->lines < BITS_LINES_MAX && strlen(path) < sizeof(line->text));
		*line = (struct bits_line){.particles = 1000, .batch = 397, .flags = "shipped"};
		snprintf(line->title, sizeof(line->title), "%.63s", all.name[i]);
		strcpy(line->text, path);
		t->lines++;
	}
}

void bits_table_read(char *text, struct bits_table *t)
{
	t->lines = t->rules = 0;
	for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
		if (*at == '%') {
			assert_true(t->rules < BITS_RULES_MAX && strstr(at, " ="));
			t->name[t->rules] = at + 2;
			t->rule[t->rules++] = strstr(at, " =") + 2;
		} else if (*at == '=') {
			assert_true(t->lines < BITS_LINES_MAX);
			read_title(at, &t->line[t->lines++]);
		} else if (*at == '+') {
			read_choice(at, &t->line[t->lines - 1]);
		} else if (*at != '#') {
			char *whole = t->line[t->lines - 1].text;

			assert_true(strlen(whole) + strlen(at) + 2 < BITS_TEXT_BYTES);
			strcat(strcat(whole, at), "\n");
		}
	}
	add_shipped(t);
}
