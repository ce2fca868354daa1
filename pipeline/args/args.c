/*
 * args.c - parses the command line with getopt_long and the tables of args.def and commands.def.
 *
 * An option for a configuration key becomes a "key=value" setting, so it passes the same checks as
 * --set and as the file. An option that a command does not take is refused, never ignored.
 */
#include "pipeline/args/args.h"

#include <getopt.h>
#include <string.h>

#include "pipeline/text/messages.h"
#include "pipeline/config/config.h"
#include "pipeline/text/decimal_number.h"

const struct sl_command_facts sl_commands[SL_COMMAND_NONE] = {
#define COMMAND(name, function, operands, least, most, sets, help, details) \
	{#name, operands, least, most, sets, help, details},
#include "pipeline/args/commands.def"
#undef COMMAND
};

enum sl_command sl_command_find(const char *name)
{
	int c = 0;

	while (c < SL_COMMAND_NONE && strcmp(sl_commands[c].name, name) != 0)
		c++;
	return (enum sl_command)c;
}

struct setting {
	const char *option, *key, *value, *help;
};

/* An option that sets no configuration key: a text, a count, or, without a value, a flag. */
struct other {
	const char *option, *value;
	bool is_text;
	size_t offset;
	const char *commands;
	const char *help;
};

static const struct setting settings[] = {
#define SETTING(option, key, value, help) {option, key, value, help},
#define TEXT(option, field, value, commands, help)
#define COUNT(option, field, value, commands, help)
#define FLAG(option, field, commands, help)
#include "pipeline/args/args.def"
#undef SETTING
#undef TEXT
#undef COUNT
#undef FLAG
};

static const struct other others[] = {
#define SETTING(option, key, value, help)
#define TEXT(option, field, value, commands, help) \
	{option, value, true, offsetof(struct sl_args, field), commands, help},
#define COUNT(option, field, value, commands, help) \
	{option, value, false, offsetof(struct sl_args, field), commands, help},
#define FLAG(option, field, commands, help) \
	{option, "", false, offsetof(struct sl_args, field), commands, help},
#include "pipeline/args/args.def"
#undef SETTING
#undef TEXT
#undef COUNT
#undef FLAG
};

enum {
	N_SETTINGS = sizeof(settings) / sizeof(settings[0]),
	N_OTHERS = sizeof(others) / sizeof(others[0]),
	SET = 1000 /* what getopt returns for --set; settings and others follow */
};

static void list_options(struct option long_option[N_SETTINGS + N_OTHERS + 2])
{
	size_t n = 0;

	long_option[n++] = (struct option){"set", required_argument, NULL, SET};
	for (int i = 0; i < N_SETTINGS; i++)
		long_option[n++] =
			(struct option){settings[i].option, required_argument, NULL, SET + 1 + i};
	for (int i = 0; i < N_OTHERS; i++)
		long_option[n++] = (struct option){others[i].option,
			others[i].value[0] ? required_argument : no_argument, NULL,
			SET + 1 + N_SETTINGS + i};
	long_option[n] = (struct option){NULL, 0, NULL, 0};
}

/* Does YAML read the value unchanged? It would cut a path such as "a #b" at the space. */
static bool is_plain(const char *value)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

	return value[0] != '-' && value[strspn(value, letters)] == '\0';
}

/* Writes key=value with the value in quotes; returns the length, as snprintf does. */
static size_t quote(char made[SL_SET_BYTES], const char *key, const char *value)
{
	size_t n = (size_t)snprintf(made, SL_SET_BYTES, "%s=\"", key);

	for (; *value && n < SL_SET_BYTES; value++) {
		unsigned char c = (unsigned char)*value;
		bool escaped = c < ' ' || c == '"' || c == '\\' || c == 0x7f;

		n += (size_t)snprintf(made + n, SL_SET_BYTES - n, escaped ? "\\x%02x" : "%c", c);
	}
	return n < SL_SET_BYTES ? n + (size_t)snprintf(made + n, SL_SET_BYTES - n, "\"") : n;
}

static enum sl_status add_set(struct sl_args *a, const char *key, const char *value)
{
	size_t n_user;

	if (a->n_sets == SL_SETS_MAX)
		return sl_fail(
			SL_USAGE, "more than %d settings, put them into the file", SL_SETS_MAX);
	if (key) {
		char *made = a->made[a->n_made];
		size_t n = is_plain(value)
		                   ? (size_t)snprintf(made, SL_SET_BYTES, "%s=%s", key, value)
		                   : quote(made, key, value);

		if (n >= SL_SET_BYTES)
			return sl_fail(SL_USAGE, "%s: the value is longer than %d bytes", key,
				SL_SET_BYTES);
		a->n_made++;
		a->set[a->n_sets++] = made;
		return SL_OK;
	}
	if (!strchr(value, '='))
		return sl_fail(SL_USAGE,
			"--set %s: has no '=' (a key and its value are needed), try --set "
			"run.seed=7",
			value);
	/* Before those of options: a later setting overrides an earlier one. */
	n_user = a->n_sets - a->n_made;
	memmove(a->set + n_user + 1, a->set + n_user, a->n_made * sizeof(*a->set));
	a->set[n_user] = value;
	a->n_sets++;
	return SL_OK;
}

static enum sl_status take_count(const char *option, const char *text, struct sl_args_count *count)
{
	struct sl_decimal number;

	if (!sl_decimal_scan(text, &number) || *number.end ||
		sl_decimal_to_integer(&number, &count->value) != SL_INTEGER_OK)
		return sl_fail(SL_USAGE,
			"--%s %s: is no whole number (from 0 to 2^64 - 1), try --%s 17", option,
			text, option);
	count->given = true;
	return SL_OK;
}

static enum sl_status take_other(struct sl_args *a, const struct other *o)
{
	void *field = (char *)a + o->offset;

	if (o->is_text)
		*(const char **)field = optarg;
	else if (o->value[0])
		return take_count(o->option, optarg, (struct sl_args_count *)field);
	else
		*(bool *)field = true;
	return SL_OK;
}

static enum sl_status take_option(struct sl_args *a, int code, const char *given)
{
	if (code == SET)
		return add_set(a, NULL, optarg);
	if (code > SET && code <= SET + N_SETTINGS)
		return add_set(a, settings[code - SET - 1].key, optarg);
	if (code > SET + N_SETTINGS)
		return take_other(a, &others[code - SET - 1 - N_SETTINGS]);
	if (code == ':')
		return sl_fail(SL_USAGE, "%s: its value is missing, see sluice --help", given);
	/* of letters in a row, given is the word before; optopt is the letter */
	if (optopt > 0 && optopt < SET)
		return sl_fail(SL_USAGE, "-%c: there is no such option, see sluice --help", optopt);
	if (optopt > SET)
		return sl_fail(SL_USAGE,
			"%s: has a value (the option takes none), see sluice --help", given);
	return sl_fail(SL_USAGE, "%s: there is no such option, see sluice --help", given);
}

static enum sl_status take_command(struct sl_args *a, const char *word)
{
	const char *names[SL_COMMAND_NONE], *near;

	a->command = sl_command_find(word);
	if (a->command != SL_COMMAND_NONE)
		return SL_OK;
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		names[c] = sl_commands[c].name;
	near = sl_nearest(word, names, SL_COMMAND_NONE);
	return sl_fail(SL_USAGE, "%s: unknown command%s%s; see sluice --help", word,
		near ? ", did you mean " : "", near ? near : "");
}

/* Is word one of the words in a list separated by spaces? */
static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; (at = strstr(at, word)) != NULL; at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
			return true;
	return false;
}

static enum sl_status check_sets(const struct sl_args *a)
{
	const struct sl_command_facts *command = &sl_commands[a->command];

	for (size_t i = 0; i < a->n_sets; i++) {
		bool by_option = i >= a->n_sets - a->n_made;

		if (command->sets == SL_SETS_NONE)
			return sl_fail(SL_USAGE,
				"%s reads no configuration, so it takes no settings; remove %s",
				command->name, a->set[i]);
		if (by_option && command->sets == SL_SETS_ONLY_SET)
			return sl_fail(SL_USAGE,
				"the option for %s says how a run computes or where it writes; %s "
				"takes settings by --set only: remove the option",
				a->set[i], command->name);
	}
	return SL_OK;
}

static bool is_given(const struct sl_args *a, const struct other *o)
{
	const void *field = (const char *)a + o->offset;

	if (o->is_text)
		return *(const char *const *)field != NULL;
	return o->value[0] ? ((const struct sl_args_count *)field)->given : *(const bool *)field;
}

/* An option that a command does not take would do nothing, so it is refused. */
static enum sl_status check_options(const struct sl_args *a)
{
	const char *command = sl_commands[a->command].name;

	SL_TRY(check_sets(a));
	for (int i = 0; i < N_OTHERS; i++) {
		const struct other *o = &others[i];
		bool taken = has_word(o->commands, command);

		if (is_given(a, o) && !taken)
			return sl_fail(SL_USAGE,
				"--%s does nothing for %s (it is for %s), leave it out", o->option,
				command, o->commands);
		if (o->value[0] && taken && !is_given(a, o))
			return sl_fail(SL_USAGE, "%s needs --%s %s (the %s), try --%s %s", command,
				o->option, o->value, o->help, o->option,
				o->is_text ? "all.mcpl" : "0");
	}
	return SL_OK;
}

static enum sl_status check_operands(const struct sl_args *a, size_t n)
{
	const struct sl_command_facts *command = &sl_commands[a->command];

	if (n < command->least)
		return sl_fail(SL_USAGE, "%s needs %s; see sluice help %s", command->name,
			command->operands, command->name);
	if (n > command->most)
		return sl_fail(SL_USAGE, "%s takes %zu operand%s, not %zu; see sluice help %s",
			command->name, command->most, command->most == 1 ? "" : "s", n,
			command->name);
	if (a->markdown && n > 0)
		return sl_fail(SL_USAGE,
			"help --markdown takes no word (it prints all keys), leave the word out");
	if (a->resume && a->force)
		return sl_fail(SL_USAGE,
			"--resume and --force exclude each other (one keeps the run that is there, "
			"the other removes it), choose one");
	return SL_OK;
}

enum sl_status sl_args_parse(int argc, char **argv, struct sl_args *a)
{
	struct option long_option[N_SETTINGS + N_OTHERS + 2];
	int code;

	memset(a, 0, sizeof(*a));
	a->command = SL_COMMAND_NONE;
	a->argv = (const char *const *)argv;
	list_options(long_option);
	opterr = 0;
	while ((code = getopt_long(argc, argv, ":h", long_option, NULL)) != -1) {
		if (code == 'h')
			a->help = true;
		else
			SL_TRY(take_option(a, code, argv[optind - 1]));
	}
	if (a->help || a->version)
		return SL_OK;
	if (optind == argc)
		return sl_fail(SL_USAGE, "no command given, see sluice --help");
	SL_TRY(take_command(a, argv[optind]));
	optind++;
	SL_TRY(check_options(a));
	SL_TRY(check_operands(a, (size_t)(argc - optind)));
	a->operand = optind < argc ? argv[optind] : NULL;
	a->operands = (const char *const *)argv + optind;
	a->n_operands = (size_t)(argc - optind);
	return SL_OK;
}

static void print_option(const char *option, const char *value, FILE *out)
{
	char text[64];

	snprintf(text, sizeof(text), "--%s%s%s", option, value[0] ? " " : "", value);
	fprintf(out, "  %-26s ", text);
}

/* The options of a command; if it is SL_COMMAND_NONE all options, each with its commands. */
static void print_options(enum sl_command command, FILE *out)
{
	const struct sl_command_facts *one =
		command < SL_COMMAND_NONE ? &sl_commands[command] : NULL;

	if (!one || one->sets != SL_SETS_NONE)
		fprintf(out, "  %-26s %s\n", "--set KEY=VALUE",
			"a value of the configuration; overrides the file");
	for (int i = 0; i < N_SETTINGS && (!one || one->sets == SL_SETS_ALL); i++) {
		print_option(settings[i].option, settings[i].value, out);
		fprintf(out, "%s (%s)\n", settings[i].help, settings[i].key);
	}
	for (int i = 0; i < N_OTHERS; i++) {
		const char *commands = others[i].commands;

		if (one && !has_word(commands, one->name))
			continue;
		print_option(others[i].option, others[i].value, out);
		if (one || !commands[0])
			fprintf(out, "%s\n", others[i].help);
		else
			fprintf(out, "%s (%s)\n", others[i].help, commands);
	}
}

void sl_args_help_command(enum sl_command command, FILE *out)
{
	const struct sl_command_facts *c = &sl_commands[command];

	fprintf(out, "sluice %s%s%s\n    %s\n%s\n", c->name, c->operands[0] ? " " : "", c->operands,
		c->help, c->details);
	print_options(command, out);
}

void sl_args_help(FILE *out)
{
	fprintf(out, "usage: sluice COMMAND [OPERAND...] [OPTION...]\n\n");
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		fprintf(out, "  %-8s %-9s %s\n", sl_commands[c].name, sl_commands[c].operands,
			sl_commands[c].help);
	fputc('\n', out);
	print_options(SL_COMMAND_NONE, out);
	fprintf(out, "\nexit codes:\n");
#define SL_STATUS(name, code, meaning) fprintf(out, "  %-4d %s\n", code, meaning);
#include "primitives/base/status.def"
#undef SL_STATUS
}
