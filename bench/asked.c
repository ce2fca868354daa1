/* asked.c - the options of sluice-bench: one table, from which reading, refusing and help are made.
 */
#include "bench/asked.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/text/messages.h"
#include "tests/cases/inputs.h"

const struct sl_input_choice sl_entropies[SL_ENTROPIES] = {
	{"1.000", SL_INPUT_RANDOM, 1.000},
	{".811", SL_INPUT_AND2, 0.811},
	{".544", SL_INPUT_AND3, 0.544},
	{".337", SL_INPUT_AND4, 0.337},
	{".201", SL_INPUT_AND5, 0.201},
};
const struct sl_input_choice sl_survivors[SL_SURVIVORS] = {
	{"0", SL_ALIVE_NONE, 0},
	{"1", SL_ALIVE_1_PERCENT, 1},
	{"10", SL_ALIVE_10_PERCENT, 10},
	{"50", SL_ALIVE_HALF, 50},
	{"90", SL_ALIVE_90_PERCENT, 90},
	{"99", SL_ALIVE_MAX, 99},
	{"100", SL_ALIVE_ALL, 100},
};

/* --- lists ------------------------------------------------------------------------------------ */

static bool add(struct sl_numbers *list, uint64_t value)
{
	if (list->n == SL_NUMBERS || value > UINT32_MAX)
		return false;
	list->at[list->n++] = (uint32_t)value;
	return true;
}

/* "1000", "2^27" or "2^27-3"; *end is behind it. */
static bool read_number(const char *text, const char **end, uint64_t *value)
{
	char *after;

	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &after, 10);
	if (*after == '^' && *value == 2 && after[1] >= '0' && after[1] <= '9') {
		unsigned long power = strtoul(after + 1, &after, 10);

		if (power > 31)
			return false;
		*value = UINT64_C(1) << power;
		if (*after == '-' && after[1] >= '0' && after[1] <= '9') {
			unsigned long less = strtoul(after + 1, &after, 10);

			if (less >= *value)
				return false;
			*value -= less;
		}
	}
	*end = after;
	return *value <= UINT32_MAX;
}

/* A number, or with 2^4..2^30 every power of two from the one to the other. */
static bool read_item(const char *text, struct sl_numbers *list)
{
	uint64_t from, to;
	const char *end;

	if (!read_number(text, &end, &from))
		return false;
	if (strncmp(end, "..", 2) != 0)
		return *end == '\0' && add(list, from);
	if (!read_number(end + 2, &end, &to) || *end != '\0' || from == 0 || from > to)
		return false;
	for (; from <= to; from *= 2)
		if (!add(list, from))
			return false;
	return true;
}

static bool read_type(const char *text, struct sl_numbers *list)
{
	if (strcmp(text, "u32") == 0)
		return add(list, SL_U32);
	return strcmp(text, "u64") == 0 && add(list, SL_U64);
}

static bool read_form(const char *text, struct sl_numbers *list)
{
	if (strcmp(text, "pairs") == 0)
		return add(list, SL_PAIRS);
	return strcmp(text, "keys") == 0 && add(list, SL_KEYS);
}

static bool read_choice(
	const char *text, const struct sl_input_choice *choices, size_t n, struct sl_numbers *list)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(text, choices[i].text) == 0)
			return add(list, choices[i].value);
	return false;
}

static bool read_entropy(const char *text, struct sl_numbers *list)
{
	return read_choice(text[0] == '0' ? text + 1 : text, sl_entropies, SL_ENTROPIES, list);
}

static bool read_survivors(const char *text, struct sl_numbers *list)
{
	return read_choice(text, sl_survivors, SL_SURVIVORS, list);
}

/* "8x4" or "8": sl_asked_columns() tells them apart again. */
static bool read_columns(const char *text, struct sl_numbers *list)
{
	uint64_t n, bytes = sizeof(uint32_t);
	const char *end;

	if (!read_number(text, &end, &n) || n > SL_COMPACT_COLUMNS_MAX)
		return false;
	if (*end == 'x' && !read_number(end + 1, &end, &bytes))
		return false;
	if (*end != '\0' || bytes == 0 || bytes > 32 || (bytes & (bytes - 1)) != 0)
		return false;
	return add(list, n > 0 ? 256 * n + bytes : 0);
}

/* --- options ---------------------------------------------------------------------------------- */

/* Of a list: how one item is read. Else a text. most: items that the list may have. */
static const struct option {
	const char *name, *value, *commands, *help;
	size_t offset;
	bool (*item)(const char *text, struct sl_numbers *list);
	uint32_t most;
} options[] = {
#define LIST(name, field, reader, most_items, value, commands, help) \
	{name, value, commands, help, offsetof(struct sl_asked, field), reader, most_items},
#define TEXT(name, field, value, commands, help) \
	{name, value, commands, help, offsetof(struct sl_asked, field), NULL, 1},
#define FLAG(name, field, commands, help) \
	{name, "", commands, help, offsetof(struct sl_asked, field), NULL, 0},
#include "bench/asked.def"
#undef LIST
#undef TEXT
#undef FLAG
};

enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static const char *const commands[] = {
#define X(name, help) #name,
	SL_BENCH_COMMANDS(X)
#undef X
};

static enum sl_status read_list(const struct option *o, const char *value, struct sl_numbers *list)
{
	char text[64], shown[SL_SHOWN_BYTES];

	list->n = 0;
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");

		snprintf(text, sizeof(text), "%.*s", (int)length, at);
		if (length >= sizeof(text) || !o->item(text, list) || list->n > o->most)
			return sl_fail(SL_USAGE,
				"%s %s: it does not take that, or not so many (%s for one), see "
				"sluice-bench --help",
				o->name, sl_show(shown, value), o->value);
		at += length;
		if (*at == '\0')
			return SL_OK;
	}
}

static enum sl_status take(
	const struct option *o, const char *value, struct sl_asked *asked, int *used)
{
	void *field = (char *)asked + o->offset;

	if (!strstr(o->commands, commands[asked->command]))
		return sl_fail(SL_USAGE, "%s does nothing for %s (it is for: %s), leave it out",
			o->name, commands[asked->command], o->commands);
	*used = o->most > 0 ? 2 : 1;
	if (o->most == 0) {
		*(bool *)field = true;
		return SL_OK;
	}
	if (!value)
		return sl_fail(SL_USAGE,
			"%s: its value is missing, %s for one, see sluice-bench "
			"--help",
			o->name, o->value);
	if (o->item)
		return read_list(o, value, (struct sl_numbers *)field);
	*(const char **)field = value;
	return SL_OK;
}

static enum sl_status unknown(const char *word)
{
	char shown[SL_SHOWN_BYTES];

	return sl_fail(SL_USAGE, "%s: there is no such option, see sluice-bench --help",
		sl_show(shown, word));
}

static enum sl_status read_options(int argc, char **argv, struct sl_asked *asked)
{
	int used = 1;

	for (int i = 2; i < argc; i += used) {
		const struct option *o = options;

		while (o < options + OPTIONS && strcmp(o->name, argv[i]) != 0)
			o++;
		if (o == options + OPTIONS)
			return unknown(argv[i]);
		SL_TRY(take(o, i + 1 < argc ? argv[i + 1] : NULL, asked, &used));
	}
	return SL_OK;
}

/*
 * A primitive, or one of its backends: what is misspelt would measure nothing. Deflate, which has
 * no tunings, is measured by itself.
 */
static enum sl_status check_only(const char *only, enum sl_bench_command command)
{
	int most = command == SL_BENCH_primitives ? SL_PRIMITIVE_COUNT : SL_DEFLATE;
	const char *slash = strchr(only, '/');
	size_t length = slash ? (size_t)(slash - only) : strlen(only);

	for (int p = 0; p < most; p++) {
		const char *name = sl_primitive_name((enum sl_primitive)p);

		if (strlen(name) == length && strncmp(name, only, length) == 0)
			return SL_OK;
	}
	return sl_fail(SL_USAGE,
		"--only %s: there is no such primitive to measure, try scan, compact, sort or one "
		"of their backends, as sort/shared",
		only);
}

enum sl_status sl_asked_read(int argc, char **argv, struct sl_asked *asked)
{
	size_t used = 0;

	memset(asked, 0, sizeof(*asked));
	asked->device = "cuda";
	asked->commit = SL_COMMIT;
	asked->command = SL_BENCH_NONE;
	for (int i = 0; i < argc && used < sizeof(asked->command_line); i++)
		used += (size_t)snprintf(asked->command_line + used,
			sizeof(asked->command_line) - used, "%s%s", i > 0 ? " " : "", argv[i]);
	for (int i = 1; i < argc; i++)
		asked->help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
	if (asked->help)
		return SL_OK;
	for (int c = 0; argc > 1 && c < SL_BENCH_NONE; c++)
		if (strcmp(argv[1], commands[c]) == 0)
			asked->command = (enum sl_bench_command)c;
	if (asked->command == SL_BENCH_NONE)
		return sl_fail(SL_USAGE,
			"no command is given (there are primitives, tune, sweep and pipeline), see "
			"sluice-bench --help");
	SL_TRY(read_options(argc, argv, asked));
	return asked->only ? check_only(asked->only, asked->command) : SL_OK;
}

void sl_asked_help(FILE *out)
{
	char left[64];

	fprintf(out, "usage: sluice-bench COMMAND [OPTION...]\n\n");
#define X(name, help) fprintf(out, "  %-11s %s\n", #name, help);
	SL_BENCH_COMMANDS(X)
#undef X
	fputs("\nA list has commas; of sizes 2^27, 2^27-3 and 2^4..2^30 can be written.\n\n", out);
	for (int i = 0; i < OPTIONS; i++) {
		snprintf(left, sizeof(left), "%s %s", options[i].name, options[i].value);
		fprintf(out, "  %-36s %s (%s)\n", left, options[i].help, options[i].commands);
	}
	fputs("\nThe exit code is that of a status: 0, 2 wrong use, 8 no device, 11 a wrong answer "
	      "was seen, ...\n",
		out);
}
