/*
 * options.c - parses the command line of sluice-bench. The parser, its error messages, the text of
 * --help and the completion of shells use the same table, options.def.
 */
#include "bench/measure/measure.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/catalog.h"
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

static const struct sl_input_choice types[] = {
	{"u32", SL_U32, 0}, {"u64", SL_U64, 0}, {"f32", SL_F32, 0}, {"f64", SL_F64, 0}};
static const struct sl_input_choice forms[] = {
	{"pairs", SL_SORT_PAIRS, 0}, {"keys", SL_SORT_KEYS, 0}};
static const struct sl_input_choice paddings[] = {
	{"on", SL_PADDING_ON, 0}, {"off", SL_PADDING_OFF, 0}};

/* "8x4" or "8": sl_columns_of_number() decodes the number. */
static bool read_columns(const char *text, struct sl_number_list *list)
{
	uint64_t n, bytes = sizeof(uint32_t);
	const char *end;

	if (!sl_number_read(text, &end, &n) || n > SL_COMPACT_COLUMNS_MAX)
		return false;
	if (*end == 'x' && !sl_number_read(end + 1, &end, &bytes))
		return false;
	if (*end != '\0' || bytes == 0 || bytes > 32 || (bytes & (bytes - 1)) != 0)
		return false;
	return sl_number_list_add(list, n > 0 ? 256 * n + bytes : 0);
}

/* --- options ---------------------------------------------------------------------------------- */

static const struct option {
	const char *name, *value, *commands, *help;
	size_t offset;                                               /* of the field */
	bool (*item)(const char *text, struct sl_number_list *list); /* of a list of numbers */
	const struct sl_input_choice *choices;                       /* of a list of words */
	uint32_t most; /* items of the list: that of choices has each once; 0: a flag */
} options_table[] = {
#define LIST(name, field, reader, most_items, value, commands, help)                          \
	{name, value, commands, help, offsetof(struct sl_bench_options, field), reader, NULL, \
		most_items},
#define CHOICES(name, field, table, value, commands, help)                                   \
	{name, value, commands, help, offsetof(struct sl_bench_options, field), NULL, table, \
		sizeof(table) / sizeof((table)[0])},
#define TEXT(name, field, value, commands, help) \
	{name, value, commands, help, offsetof(struct sl_bench_options, field), NULL, NULL, 1},
#define FLAG(name, field, commands, help) \
	{name, "", commands, help, offsetof(struct sl_bench_options, field), NULL, NULL, 0},
#include "bench/measure/options.def"
#undef LIST
#undef CHOICES
#undef TEXT
#undef FLAG
};

enum { OPTIONS = sizeof(options_table) / sizeof(options_table[0]) };

static const struct {
	const char *name, *help;
} commands[] = {
#define X(name, help) {#name, help},
	SL_BENCH_COMMANDS(X)
#undef X
};

/* Appends the item of a list. The 0 before a decimal point may be there. */
static bool read_item(const struct option *o, const char *text, struct sl_number_list *list)
{
	if (o->item)
		return o->item(text, list);
	for (uint32_t i = 0; i < o->most; i++)
		if (strcmp(text + (strncmp(text, "0.", 2) == 0), o->choices[i].text) == 0)
			return sl_number_list_add(list, o->choices[i].value);
	return false;
}

static enum sl_status read_list(
	const struct option *o, const char *value, struct sl_number_list *list)
{
	char text[64];

	list->n = 0;
	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");

		snprintf(text, sizeof(text), "%.*s", (int)length, at);
		if (length >= sizeof(text) || !read_item(o, text, list) || list->n > o->most)
			return sl_fail(SL_USAGE,
				"%s %s: the value is not valid or has more than %u items; example: "
				"%s %s",
				o->name, sl_shown(value), o->most, o->name, o->value);
		at += length;
		if (*at == '\0')
			return SL_OK;
	}
}

static enum sl_status read_option(
	const struct option *o, const char *value, struct sl_bench_options *options)
{
	void *field = (char *)options + o->offset;

	if (!strstr(o->commands, commands[options->command].name))
		return sl_fail(SL_USAGE,
			"%s has no effect on the command %s, only on: %s; remove it", o->name,
			commands[options->command].name, o->commands);
	if (o->most == 0) {
		*(bool *)field = true;
		return SL_OK;
	}
	if (!value)
		return sl_fail(
			SL_USAGE, "%s needs a value; example: %s %s", o->name, o->name, o->value);
	if (o->item || o->choices)
		return read_list(o, value, (struct sl_number_list *)field);
	*(const char **)field = value;
	return SL_OK;
}

static enum sl_status fail_unknown(const char *word)
{
	const char *names[OPTIONS], *near;

	for (int i = 0; i < OPTIONS; i++)
		names[i] = options_table[i].name;
	near = sl_nearest(word, names, OPTIONS);
	return sl_fail(SL_USAGE, "unknown option %s; use %s", sl_shown(word),
		near ? near : "an option that sluice-bench --help lists");
}

static enum sl_status read_options(int argc, char **argv, struct sl_bench_options *options)
{
	for (int i = 2; i < argc; i++) {
		const struct option *o = options_table;

		while (o < options_table + OPTIONS && strcmp(o->name, argv[i]) != 0)
			o++;
		if (o == options_table + OPTIONS)
			return fail_unknown(argv[i]);
		SL_TRY(read_option(o, i + 1 < argc ? argv[i + 1] : NULL, options));
		i += o->most > 0; /* the value */
	}
	return SL_OK;
}

/* --- --only ----------------------------------------------------------------------------------- */

bool sl_bench_selects(const struct sl_bench_options *options, const struct sl_backend *backend)
{
	const char *only = options->only, *primitive = sl_primitive_name(backend->primitive);
	size_t length = strlen(primitive);

	if (!only)
		return true;
	if (strncmp(only, primitive, length) != 0)
		return false;
	return only[length] == '\0' ||
	       (only[length] == '/' && strcmp(only + length + 1, backend->name) == 0);
}

static bool is_measured(const struct sl_backend *backend, enum sl_bench_command command)
{
	return backend->space == SL_DEVICE &&
	       (command != SL_BENCH_tune || backend->tunable.block > 0);
}

enum sl_status sl_bench_options_check_only(const struct sl_bench_options *options)
{
	enum { NAMES_MAX = 64, NAME_BYTES = 48 };
	char name[NAMES_MAX][NAME_BYTES];
	const char *names[NAMES_MAX];
	const struct sl_backend *backend;
	enum sl_primitive last = SL_PRIMITIVE_COUNT;
	size_t n = 0;

	if (!options->only)
		return SL_OK;
	for (size_t i = 0; n + 2 <= NAMES_MAX && (backend = sl_backend_at(i)) != NULL; i++) {
		const char *primitive = sl_primitive_name(backend->primitive);

		if (!is_measured(backend, options->command))
			continue;
		if (sl_bench_selects(options, backend))
			return SL_OK;
		if (backend->primitive != last)
			snprintf(name[n++], NAME_BYTES, "%s", primitive);
		snprintf(name[n++], NAME_BYTES, "%s/%s", primitive, backend->name);
		last = backend->primitive;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = name[i];
	if (n == 0) /* a build without CUDA, and the device is not emulated */
		return SL_OK;
	return sl_fail(SL_USAGE,
		"--only %s: the command %s measures no such primitive or backend; use %s",
		sl_shown(options->only), commands[options->command].name,
		sl_suggested(options->only, names, n));
}

/* --- the command line ------------------------------------------------------------------------- */

enum sl_status sl_bench_options_read(int argc, char **argv, struct sl_bench_options *options)
{
	memset(options, 0, sizeof(*options));
	options->device = "cuda";
	options->commit = sl_commit();
	options->command = SL_BENCH_NONE;
	for (int i = 0; i < argc; i++)
		sl_append(options->command_line, sizeof(options->command_line), "%s%s",
			i > 0 ? " " : "", argv[i]);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			options->help = true;
	if (options->help)
		return SL_OK;
	for (int c = 0; argc > 1 && c < SL_BENCH_NONE; c++)
		if (strcmp(argv[1], commands[c].name) == 0)
			options->command = (enum sl_bench_command)c;
	if (options->command == SL_BENCH_NONE)
		return sl_fail(SL_USAGE,
			"the first argument is not a command; use primitives, tune, sweep or "
			"pipeline, and sluice-bench --help for the options");
	return read_options(argc, argv, options);
}

void sl_bench_options_help(FILE *out)
{
	char left[64];

	fputs("Usage: sluice-bench COMMAND [OPTION...]\n\n"
	      "Times the primitives of sluice on a device: scan, stream compaction, expansion of "
	      "runs, radix sort and deflate.\nEvery result is verified before it is timed, and compared with a copy of the "
	      "memory and with CUB.\n\nCommands:\n",
		out);
	for (int c = 0; c < SL_BENCH_NONE; c++)
		fprintf(out, "  %-12s %s\n", commands[c].name, commands[c].help);
	fputs("\nThe items of a list are separated by commas. A number is written as 1000, 2^27 or "
	      "2^27-3;\n2^4..2^30 is every power of two from 2^4 to 2^30.\n\nOptions:\n",
		out);
	for (int i = 0; i < OPTIONS; i++) {
		const struct option *o = &options_table[i];

		snprintf(left, sizeof(left), "%s %s", o->name, o->value);
		fprintf(out, "  %-36s %s (%s)\n", left, o->help, o->commands);
	}
	fputs("\nTables: \"of\" is the number of samples; \"copy\" and \"CUB\" are the speed relative to a copy and to\nCUB; a * after the host time means that the time may contain host time.\n\n"
	      "Exit codes: 0 success, 2 wrong use, 4 a file cannot be written, 8 no device, 11 a "
	      "wrong answer.\n",
		out);
}

/* --- completion of shells ---------------------------------------------------------------------- */

static bool command_at(int c, const char **name, const char **help)
{
	if (c < 0 || c >= SL_BENCH_NONE)
		return false;
	*name = commands[c].name;
	*help = commands[c].help;
	return true;
}

static bool option_at(int i, struct sl_completed_option *option)
{
	if (i >= OPTIONS)
		return false;
	*option = (struct sl_completed_option){options_table[i].name + strlen("--"),
		options_table[i].value, options_table[i].help};
	return true;
}

static bool takes(int c, int i)
{
	return c >= 0 && c < SL_BENCH_NONE
	               ? strstr(options_table[i].commands, commands[c].name) != NULL
	               : strcmp(options_table[i].name, "--help") == 0;
}

/* A primitive, or PRIMITIVE/BACKEND. */
static void offer_backends(const struct sl_last_word *last)
{
	enum sl_primitive before = SL_PRIMITIVE_COUNT;
	char word[64];

	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++) {
		const char *primitive = sl_primitive_name(e->primitive);

		if (e->primitive != before)
			sl_offer(last, primitive);
		snprintf(word, sizeof(word), "%s/%s", primitive, e->name);
		if (e->runs_on != SL_RUNS_ON_HOST)
			sl_offer(last, word);
		before = e->primitive;
	}
}

/* An example in words ("u32,u64") has all words of a list; one in numbers does not. */
static void offer_values(const struct sl_last_word *last, int i)
{
	const struct option *o = &options_table[i];
	const char *value = o->value;

	if (strcmp(o->name, "--only") == 0)
		offer_backends(last);
	else if (*value < 'a' || *value > 'z')
		sl_offer_value(last, value, o->help);
	else
		for (size_t n; *value; value += n + (value[n] == ',')) {
			n = strcspn(value, ",");
			sl_offer_part(last, value, n, NULL);
		}
}

static void offer_operands(const struct sl_last_word *last, int c)
{
	(void)last;
	(void)c;
}

const struct sl_completed_program sl_completed_bench = {
	command_at, option_at, takes, offer_values, offer_operands};

/* --- lists of numbers ------------------------------------------------------------------------- */

bool sl_number_list_add(struct sl_number_list *list, uint64_t value)
{
	if (list->n == SL_NUMBER_LIST_MAX || value > UINT32_MAX)
		return false;
	list->at[list->n++] = (uint32_t)value;
	return true;
}

bool sl_number_read(const char *text, const char **end, uint64_t *value)
{
	char *after;

	if (!isdigit((unsigned char)*text))
		return false;
	*value = strtoull(text, &after, 10);
	if (*after == '^' && *value == 2 && isdigit((unsigned char)after[1])) {
		unsigned long power = strtoul(after + 1, &after, 10);

		*value = power > 31 ? UINT64_MAX : UINT64_C(1) << power;
		if (*after == '-' && isdigit((unsigned char)after[1]))
			*value -= strtoul(after + 1, &after, 10); /* below 0: too large */
	}
	*end = after;
	return *value <= UINT32_MAX;
}

bool sl_number_list_read(const char *text, struct sl_number_list *list)
{
	uint64_t from, to;
	const char *end;

	if (!sl_number_read(text, &end, &from))
		return false;
	if (strncmp(end, "..", 2) != 0)
		return *end == '\0' && sl_number_list_add(list, from);
	if (!sl_number_read(end + 2, &end, &to) || *end != '\0' || from == 0 || from > to)
		return false;
	for (; from <= to; from *= 2)
		if (!sl_number_list_add(list, from))
			return false;
	return true;
}
