/*
 * completion_fish.c - the completion of fish.
 *
 * The script declares each option with its commands and values; fish does the completion itself.
 */
#include "pipeline/manual/completion_fish.h"

#include "pipeline/manual/shell_text.h"

/* Prints the command of the command line; fails if there is none yet. */
static void print_command(const struct sl_manual *m, FILE *out)
{
	sl_shell_template(m,
		"function __~_command\n"
		"	set -l words (commandline -opc)\n"
		"	set -l is_value 0\n"
		"	set -e words[1]\n"
		"	for word in $words\n"
		"		if test $is_value = 1\n"
		"			set is_value 0\n"
		"			continue\n"
		"		end\n"
		"		switch $word\n"
		"			case ",
		out);
	sl_shell_value_options(m, " ", out);
	sl_shell_template(m,
		"\n"
		"				set is_value 1\n"
		"			case '-*'\n"
		"			case '*'\n"
		"				echo $word\n"
		"				return 0\n"
		"		end\n"
		"	end\n"
		"	return 1\n"
		"end\n\n"
		"function __~_after\n"
		"	contains -- (__~_command; or echo :none) $argv\n"
		"end\n\n",
		out);
}

/* KEY= until there is a '=', then the words of the key, each with the key before it. */
static void print_settings(const struct sl_manual *m, FILE *out)
{
	sl_shell_template(m,
		"function __~_settings\n"
		"	set -l word (string replace -r -- '^--set=' '' (commandline -ct))\n"
		"	switch $word\n",
		out);
	for (int i = 0; i < m->n_settings; i++)
		if (m->setting[i].words[0])
			fprintf(out,
				"		case '%s=*'\n			printf '%s=%%s\\n' %s\n",
				m->setting[i].key, m->setting[i].key, m->setting[i].words);
	fprintf(out,
		"		case '*=*'\n		case '*'\n			printf '%%s\\n'");
	sl_shell_keys(m, out);
	fprintf(out, "\n	end\nend\n\n");
}

/* The options of complete for a value: -x has no files, -r -F has. */
static void print_value(
	const struct sl_manual *m, const struct sl_manual_value *value, bool of_option, FILE *out)
{
	if (of_option)
		fputs(value->by == SL_COMPLETE_FILES ? " -r -F" : " -x", out);
	else if (value->by == SL_COMPLETE_FILES)
		fputs(" -F", out);
	if (value->by == SL_COMPLETE_SETTINGS)
		sl_shell_template(m, " -a '(__~_settings)'", out);
	else if (value->by == SL_COMPLETE_FOLDERS)
		fputs(" -a '(__fish_complete_directories (commandline -ct))'", out);
	else if (value->words[0])
		fprintf(out, " -a '%s'", value->words);
}

/* " -d 'TEXT'" */
static void print_help(const char *text, FILE *out)
{
	fputs(" -d '", out);
	sl_shell_escaped(text, "'\\", out);
	fputs("'\n", out);
}

/* One line for an option, with the names of the commands that take it. */
static void print_option(const struct sl_manual *m, const struct sl_manual_option *o, FILE *out)
{
	fprintf(out, "complete -c %s", m->program);
	if (o->commands == SL_NO_COMMAND) {
		sl_shell_template(m, " -n 'not __~_command'", out);
	} else if (o->commands != SL_EVERY_COMMAND) {
		sl_shell_template(m, " -n '__~_after", out);
		for (int c = 0; c < m->n_commands; c++)
			if (sl_manual_takes(o, c))
				fprintf(out, " %s", m->command[c].name);
		fputc('\'', out);
	}
	fprintf(out, " -l %s", o->name + 2);
	if (o->value.name[0])
		print_value(m, &o->value, true, out);
	print_help(o->help, out);
}

static void print_commands(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "complete -c %s -f\n", m->program);
	for (int c = 0; c < m->n_commands; c++) {
		fprintf(out, "complete -c %s", m->program);
		sl_shell_template(m, " -n 'not __~_command' -a ", out);
		fputs(m->command[c].name, out);
		print_help(m->command[c].help, out);
	}
	for (int c = 0; c < m->n_commands; c++) {
		const struct sl_manual_value *operands = &m->command[c].operands;

		if (operands->by == SL_COMPLETE_WORDS && !operands->words[0])
			continue;
		fprintf(out, "complete -c %s", m->program);
		sl_shell_template(m, " -n '__~_after ", out);
		fprintf(out, "%s'", m->command[c].name);
		print_value(m, operands, false, out);
		fputc('\n', out);
	}
}

void sl_completion_fish(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "# Completion of %s for fish, as printed by: %s fish\n\n", m->program,
		m->script);
	print_command(m, out);
	if (m->n_settings > 0)
		print_settings(m, out);
	print_commands(m, out);
	for (int i = 0; i < m->n_options; i++)
		print_option(m, &m->option[i], out);
}
