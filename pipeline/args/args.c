/*
 * args.c - parses the command line with getopt_long and the tables of args.def and commands.def.
 *
 * An option for a configuration key becomes a "key=value" setting, so it passes the same checks as
 * --set and as the file. An option that a command does not take is refused, never ignored. The texts
 * of getopt_long are turned off, because they do not say what to do.
 *
 * Input: argc and argv. Output: struct sl_args, or SL_USAGE with a message. The same tables make
 * the texts of --help, which help2man makes manual pages of, and the completion of
 * shells (pipeline/help/help.h), so they cannot differ from what is accepted.
 */
#include "pipeline/args/args.h"

#include <getopt.h>
#include <string.h>

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

/* --set is not in args.def: it is the only setting whose key is part of its value. */
static const struct sl_args_option options[] = {
	{SL_ARGS_SETTING, "set", NULL, 0, "KEY=VALUE", "",
		"a value of the configuration; overrides the file"},
#define SETTING(option, key, value, help) {SL_ARGS_SETTING, option, key, 0, value, "", help},
#define OPTION(kind, option, field, value, commands, help) \
	{SL_ARGS_##kind, option, NULL, offsetof(struct sl_args, field), value, commands, help},
#include "pipeline/args/args.def"
#undef SETTING
#undef OPTION
};

/* getopt_long() returns CODE_FIRST + i for options[i]; letters and ':' have smaller codes. */
enum { N_OPTIONS = sizeof(options) / sizeof(options[0]), CODE_FIRST = 1000 };

/* Does YAML read the value unchanged? It would cut a path such as "a #b" at the space. */
static bool is_plain(const char *value)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

	return value[0] && value[0] != '-' && value[strspn(value, letters)] == '\0';
}

/*
 * Appends "value" with YAML's escapes to a text of n bytes; returns the length of the complete
 * text, as snprintf() does, so a length of SL_SET_BYTES or more means that the text is cut.
 */
static size_t quote(char text[SL_SET_BYTES], size_t n, const char *value)
{
	n += (size_t)snprintf(text + n, SL_SET_BYTES - n, "\"");
	for (; *value && n < SL_SET_BYTES; value++) {
		unsigned char c = (unsigned char)*value;
		bool escaped = c < ' ' || c == '"' || c == '\\' || c == 0x7f;

		n += (size_t)snprintf(text + n, SL_SET_BYTES - n, escaped ? "\\x%02x" : "%c", c);
	}
	return n < SL_SET_BYTES ? n + (size_t)snprintf(text + n, SL_SET_BYTES - n, "\"") : n;
}

/*
 * Adds a setting: "KEY=VALUE" of --set, else "--OPTION KEY=VALUE" for the key of the option. The
 * array keeps those of --set before those of options, so that an option overrides --set in any
 * order on the command line. Whether key and value are valid is checked when the configuration is
 * read.
 */
static enum sl_status add_set(struct sl_args *a, const struct sl_args_option *o, const char *value)
{
	size_t n_user = a->n_sets - a->n_option_sets, n;
	char *text;

	if (a->n_sets == SL_SETS_MAX)
		return sl_fail(SL_USAGE,
			"the command line has more than %d settings, the maximum; put some into the "
			"configuration file",
			SL_SETS_MAX);
	if (!o->key && !strchr(value, '='))
		return sl_fail(SL_USAGE,
			"--set %s: '=' is missing between key and value; for example --set run.seed=7",
			value);
	a->n_sets++;
	if (!o->key) {
		memmove(a->set + n_user + 1, a->set + n_user, a->n_option_sets * sizeof(*a->set));
		a->set[n_user] = value;
		return SL_OK;
	}
	text = a->option_set[a->n_option_sets++];
	n = (size_t)snprintf(text, SL_SET_BYTES, "--%s %s=", o->name, o->key);
	n = is_plain(value) ? n + (size_t)snprintf(text + n, SL_SET_BYTES - n, "%s", value)
	                    : quote(text, n, value);
	a->set[a->n_sets - 1] = text;
	if (n >= SL_SET_BYTES)
		return sl_fail(SL_USAGE,
			"--%s: the value of the option has more than %d bytes, the maximum; put it "
			"into the configuration file, as %s",
			o->name, SL_SET_BYTES, o->key);
	return SL_OK;
}

/* Is it the key of --out? Commands that read no configuration can take this option. */
static bool is_out(const char *key)
{
	return strcmp(key, "output.to") == 0;
}

/* Stores the value of an option (optarg; NULL for a flag) in a. */
static enum sl_status take_value(struct sl_args *a, const struct sl_args_option *o)
{
	void *field = (char *)a + o->offset;

	if (o->key && is_out(o->key))
		a->out = optarg;
	if (o->kind == SL_ARGS_SETTING)
		return add_set(a, o, optarg);
	if (o->kind == SL_ARGS_TEXT || o->kind == SL_ARGS_COUNT)
		*(const char **)field = optarg;
	else
		*(bool *)field = true;
	return SL_OK;
}

/*
 * Handles a code of getopt_long(): an option, or one of its errors, which become messages here.
 * given is the argument that it read last, as the user wrote it.
 */
static enum sl_status take_option(struct sl_args *a, int code, const char *given)
{
	const char *names[N_OPTIONS], *near;

	if (code >= CODE_FIRST)
		return take_value(a, &options[code - CODE_FIRST]);
	if (code == ':')
		return sl_fail(SL_USAGE, "%s: the option needs a value; see sluice --help", given);
	/* optopt is an unknown letter, or the code of a flag with a value; 0: an unknown option. */
	if (optopt >= CODE_FIRST)
		return sl_fail(SL_USAGE, "%s: the option takes no value; write --%s alone", given,
			options[optopt - CODE_FIRST].name);
	/* For letters in one argument, such as -xy, given can be the argument before. */
	if (optopt > 0)
		return sl_fail(SL_USAGE, "-%c: unknown option; see sluice --help", optopt);
	for (int i = 0; i < N_OPTIONS; i++)
		names[i] = options[i].name;
	near = sl_nearest(
		sl_said("%.*s", (int)strcspn(given + 2, "="), given + 2), names, N_OPTIONS);
	return sl_fail(SL_USAGE, "%s: unknown option%s%s; see sluice --help", given,
		near ? ", did you mean --" : "", near ? near : "");
}

/* Finds the command. A misspelt one is most often one letter off, so the nearest is suggested. */
static enum sl_status take_command(struct sl_args *a, const char *word)
{
	static const char *const of_others[][2] = {{"merge", "convert"},
		{"filter", "run with model: list and keep"}, {"mcx", "python -m sluice mcx"}};
	const char *names[SL_COMMAND_NONE], *near;

	a->command = sl_command_find(word);
	if (a->command != SL_COMMAND_NONE)
		return SL_OK;
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		names[c] = sl_commands[c].name;
	near = sl_nearest(word, names, SL_COMMAND_NONE);
	for (size_t i = 0; i < sizeof(of_others) / sizeof(of_others[0]); i++)
		near = strcmp(word, of_others[i][0]) == 0 ? of_others[i][1] : near;
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

/*
 * Refuses settings that the command does not take. A replayed particle does not depend on where and
 * how a run computes, so replay takes --set, for the keys that determine results, but no such
 * option.
 */
static enum sl_status check_sets(const struct sl_args *a)
{
	const struct sl_command_facts *command = &sl_commands[a->command];

	for (size_t i = 0; i < a->n_sets; i++) {
		bool by_option = i >= a->n_sets - a->n_option_sets;

		if (command->sets == SL_SETS_NONE ||
			(command->sets == SL_SETS_ONLY_OUT &&
				(!by_option || strncmp(a->set[i], "--out ", 6) != 0)))
			return sl_fail(SL_USAGE,
				"%s reads no configuration, so it takes no settings; remove %s",
				command->name, sl_set_typed(a->set[i]));
		if (by_option && command->sets == SL_SETS_ONLY_SET)
			return sl_fail(SL_USAGE,
				"%s says how a run computes or where it writes; %s takes settings by --set "
				"only; remove the option",
				sl_set_typed(a->set[i]), command->name);
	}
	return SL_OK;
}

/* Was the option on the command line? Not for settings, which have no field in struct sl_args. */
static bool is_given(const struct sl_args *a, const struct sl_args_option *o)
{
	const void *field = (const char *)a + o->offset;

	return o->kind == SL_ARGS_FLAG ? *(const bool *)field : *(const char *const *)field != NULL;
}

/*
 * An option that a command does not take would have no effect, so it is refused. A text has no
 * default, so a command that takes one needs it.
 */
static enum sl_status check_options(const struct sl_args *a)
{
	const char *command = sl_commands[a->command].name;

	SL_TRY(check_sets(a));
	for (int i = 0; i < N_OPTIONS; i++) {
		const struct sl_args_option *o = &options[i];
		bool taken = has_word(o->commands, command);

		if (o->kind == SL_ARGS_SETTING)
			continue;
		if (is_given(a, o) && !taken)
			return sl_fail(SL_USAGE,
				"--%s has no effect on %s (it is an option of %s); remove it",
				o->name, command, o->commands);
		if (o->kind == SL_ARGS_TEXT && taken && !is_given(a, o))
			return sl_fail(SL_USAGE, "%s needs --%s %s (%s); add the option", command,
				o->name, o->value, o->help);
	}
	return SL_OK;
}

/* Checks the number of operands, and the options that exclude an operand or each other. */
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
			"help --markdown prints all keys, so it takes no word; remove the word");
	if (a->resume && a->force)
		return sl_fail(SL_USAGE,
			"--resume and --force exclude each other (--resume keeps the existing run, "
			"--force removes it); use one of them");
	return SL_OK;
}

/*
 * --help and --version need no command; operands given with them are not checked. The first
 * ':' in the list of letters makes getopt_long() return ':' for a missing value instead of '?'.
 */
enum sl_status sl_args_parse(int argc, char **argv, struct sl_args *a)
{
	struct option long_option[N_OPTIONS + 1] = {0}; /* ends with an option without a name */
	int code;

	memset(a, 0, sizeof(*a));
	a->command = SL_COMMAND_NONE;
	a->argv = (const char *const *)argv;
	for (int i = 0; i < N_OPTIONS; i++)
		long_option[i] = (struct option){options[i].name,
			options[i].value[0] ? required_argument : no_argument, NULL,
			CODE_FIRST + i};
	opterr = 0;
	while ((code = getopt_long(argc, argv, ":h", long_option, NULL)) != -1) {
		if (code == 'h')
			a->help = true;
		else
			SL_TRY(take_option(a, code, argv[optind - 1]));
	}
	if (a->help && optind < argc)
		a->command = sl_command_find(argv[optind]);
	if (a->help || a->version)
		return SL_OK;
	if (optind == argc)
		return sl_fail(SL_USAGE, "no command given; see sluice --help");
	SL_TRY(take_command(a, argv[optind]));
	optind++;
	SL_TRY(check_options(a));
	SL_TRY(check_operands(a, (size_t)(argc - optind)));
	a->operands = (const char *const *)argv + optind;
	a->n_operands = (size_t)(argc - optind);
	return SL_OK;
}

/* --set belongs to SL_SETS_ONLY_SET and SL_SETS_ALL. */
bool sl_args_takes(enum sl_command c, const struct sl_args_option *o)
{
	const struct sl_command_facts *command = &sl_commands[c];

	if (o->kind != SL_ARGS_SETTING)
		return has_word(o->commands, command->name);
	return command->sets == SL_SETS_ALL || (command->sets == SL_SETS_ONLY_SET && !o->key) ||
	       (command->sets == SL_SETS_ONLY_OUT && o->key && is_out(o->key));
}

const struct sl_args_option *sl_args_option_at(size_t i)
{
	return i < N_OPTIONS ? &options[i] : NULL;
}

/* --- help ------------------------------------------------------------------------------------- */

/*
 * The note that follows the help of an option in parentheses: the key of a setting with its default
 * ("run.mode; default auto"), and if all, the commands that take another option. "" if there is
 * nothing to say.
 */
static const char *note_of(const struct sl_args_option *option, bool all)
{
	const struct sl_model *model;
	const char *fallback;

	if (!option->key)
		return all ? option->commands : "";
	fallback = sl_option_find(option->key, &model)->fallback;
	return sl_said("%s%s%s", option->key, fallback && fallback[0] ? "; default " : "",
		fallback ? fallback : "");
}

/* Prints the options of a command, or all options if it is SL_COMMAND_NONE. */
static void print_options(enum sl_command command, FILE *out)
{
	bool all = command == SL_COMMAND_NONE;

	for (int i = 0; i < N_OPTIONS; i++) {
		const struct sl_args_option *o = &options[i];
		const char *note = note_of(o, all);

		if (all || sl_args_takes(command, o))
			fprintf(out, *note ? "  %-26s %s (%s)\n" : "  %-26s %s\n",
				sl_said("--%s%s%s", o->name, o->value[0] ? " " : "", o->value),
				o->help, note);
	}
}

void sl_args_help_command(enum sl_command command, FILE *out)
{
	const struct sl_command_facts *c = &sl_commands[command];

	fprintf(out, "Usage: sluice %s%s%s [OPTION...]\n\n    %s\n%s\nOptions:\n", c->name,
		c->operands[0] ? " " : "", c->operands, c->help, c->details);
	print_options(command, out);
}

void sl_args_help(FILE *out)
{
	fprintf(out,
		"Usage: sluice COMMAND [OPERAND...] [OPTION...]\n\n"
		"Computes batches of particles or rays on a GPU or on the CPU: generates them, "
		"removes the dead\nones, sorts the survivors and writes them compressed. A "
		"configuration in YAML says what to compute.\n\nCommands:\n");
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		fprintf(out, "  %-17s %s\n",
			sl_said("%s %s", sl_commands[c].name, sl_commands[c].operands),
			sl_commands[c].help);
	fprintf(out, "\nOptions:\n");
	print_options(SL_COMMAND_NONE, out);
	fprintf(out, "\nExit codes:\n");
#define SL_STATUS(name, code, meaning) fprintf(out, "  %-4d %s\n", code, meaning);
#include "primitives/base/status.def"
#undef SL_STATUS
}
