/* bits_words.c - see bits_words.h. */
#include "tests/support/bits/bits_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

enum { NAMES_MAX = 12, ALTERNATIVES_MAX = 16 };

/* --- the table -------------------------------------------------------------------------------- */

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

/* --- command lines ---------------------------------------------------------------------------- */

struct bits_context bits_context;
uint64_t bits_chance;

/* splitmix64 */
unsigned bits_one_of(unsigned n)
{
	uint64_t z = bits_chance += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % n);
}

const char *bits_backend(enum sl_primitive primitive, enum sl_space space)
{
	const char *name[NAMES_MAX] = {"auto"};
	unsigned n = 1;
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL && n < NAMES_MAX; i++)
		if (b->primitive == primitive && b->space == space)
			name[n++] = b->name;
	return name[bits_one_of(n)];
}

static const char *value_of(const char *name)
{
	if (strcmp(name, "@sort") == 0)
		return bits_backend(SL_SORT, SL_DEVICE);
	if (strcmp(name, "@compact") == 0)
		return bits_backend(SL_COMPACT, SL_DEVICE);
	if (strcmp(name, "@deflate") == 0)
		return bits_context.deflate;
	if (strcmp(name, "@twin") == 0)
		return strcmp(bits_context.deflate, "cpu") == 0 ? "device" : "device_fast";
	return name;
}

/* The words of an alternative after its flags, ?FLAG and !FLAG, or NULL if they do not suit. */
static const char *after_flags(const char *at)
{
	for (at += strspn(at, " "); *at == '?' || *at == '!'; at += strspn(at, " ")) {
		const bool wanted = *at++ == '?';
		char flag[32];

		snprintf(flag, sizeof(flag), "%.*s", (int)strcspn(at, " |"), at);
		if (bits_has(bits_context.flags, flag) != wanted)
			return NULL;
		at += strlen(flag);
	}
	return at;
}

static void add_rule(struct bits_words *w, const char *name)
{
	const struct bits_table *t = bits_context.table;
	const char *alternative[ALTERNATIVES_MAX], *at;
	const size_t bytes = strlen(name);
	unsigned n = 0;
	size_t i = 0;

	while (i < t->rules && (strncmp(t->name[i], name, bytes) != 0 || t->name[i][bytes] != ' '))
		i++;
	if (i == t->rules)
		fail_msg("there is no rule %s", name);
	for (at = t->rule[i]; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
		assert_true(n < ALTERNATIVES_MAX);
		alternative[n] = after_flags(at);
		n += alternative[n] != NULL;
	}
	if (n == 0)
		fail_msg("no alternative of rule %s suits %s", name, bits_context.flags);
	at = alternative[bits_one_of(n)];
	for (bool more = true; more; at++) {
		size_t end = strcspn(at, ";|");

		more = at[end] == ';';
		bits_add(w, "%.*s", (int)(end - (end > 0 && at[end - 1] == ' ')), at);
		at += end;
		at += more && at[1] == ' ';
	}
}

void bits_add(struct bits_words *w, const char *format, ...)
{
	char *at = w->text + w->used, *value;
	size_t n_env = 0;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(at, sizeof(w->text) - w->used, format, list);
	va_end(list);
	w->used += (size_t)n + 1;
	assert_true(n >= 0 && w->used < sizeof(w->text) && w->n + 3 < BITS_WORDS_MAX);
	value = strncmp(at, "--", 2) == 0 ? strchr(at, ' ') : NULL;
	while (w->env[n_env])
		n_env++;
	if (*at == '$') {
		add_rule(w, at + 1);
	} else if (strncmp(at, "SL_", 3) == 0) {
		assert_true(n_env < 3);
		w->env[n_env] = at;
	} else if (*at) {
		if (strncmp(at, "--", 2) != 0 && strchr(at, '='))
			w->word[w->n++] = "--set";
		w->word[w->n++] = at;
		if (value) {
			*value = '\0';
			w->word[w->n++] = value_of(value + 1);
		}
	}
	w->word[w->n] = NULL;
}
