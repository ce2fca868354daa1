/*
 * completion_zsh.c - the completion of zsh: a file for a folder of $fpath, which can also be sourced.
 *
 * _arguments of zsh knows options with values and operands. It takes the options of a command after
 * the name of the command.
 */
#include "pipeline/manual/completion_zsh.h"

#include "pipeline/manual/shell_text.h"

/* Prints text for a place between single quotes, where _arguments gives brackets and ':' a meaning. */
static void print_quoted(const char *text, const char *escaped, FILE *out)
{
	for (; *text; text++) {
		const char letter[2] = {*text, '\0'};

		if (*text == '\'')
			fputs("'\\''", out);
		else
			sl_shell_escaped(letter, escaped, out);
	}
}

/* ":NAME:ACTION", the part of an argument that says what completes its value. */
static void print_value(const struct sl_manual *m, const struct sl_manual_value *value, FILE *out)
{
	fputc(':', out);
	print_quoted(value->name, ":\\", out);
	fputc(':', out);
	if (value->by == SL_COMPLETE_SETTINGS) {
		sl_shell_template(m, "_~_settings", out);
	} else if (value->by == SL_COMPLETE_WORDS && value->words[0]) {
		fputc('(', out);
		print_quoted(value->words, ":", out);
		fputc(')', out);
	} else if (value->words[0]) {
		fprintf(out, "{compadd - %s; _files%s}", value->words,
			value->by == SL_COMPLETE_FOLDERS ? " -/" : "");
	} else if (value->by != SL_COMPLETE_WORDS) {
		fprintf(out, "_files%s", value->by == SL_COMPLETE_FOLDERS ? " -/" : "");
	}
}

/* '--out=[help]:DIR:_files -/' */
static void print_option(const struct sl_manual *m, const struct sl_manual_option *o, FILE *out)
{
	bool has_value = o->value.name[0] != '\0';

	fprintf(out, " \\\n		'");
	if (o->commands == SL_EVERY_COMMAND)
		fprintf(out, "(- *)");
	if (o->value.by == SL_COMPLETE_SETTINGS)
		fprintf(out, "*"); /* can be given several times */
	fprintf(out, "%s%s[", o->name, has_value && m->joined ? "=" : "");
	print_quoted(o->help, "[]:\\", out);
	fputc(']', out);
	if (has_value)
		print_value(m, &o->value, out);
	fputc('\'', out);
}

static void print_options(const struct sl_manual *m, int c, FILE *out)
{
	for (int i = 0; i < m->n_options; i++)
		if (sl_manual_takes(&m->option[i], c))
			print_option(m, &m->option[i], out);
}

/* KEY= until there is a '=', then the words of the key. */
static void print_settings(const struct sl_manual *m, FILE *out)
{
	sl_shell_template(m,
		"_~_settings()\n{\n"
		"	if ! compset -P 1 '*='; then\n"
		"		compadd -S = -",
		out);
	for (int i = 0; i < m->n_settings; i++)
		fprintf(out, " %s", m->setting[i].key);
	fprintf(out, "\n		return\n	fi\n	case $IPREFIX in\n");
	for (int i = 0; i < m->n_settings; i++)
		if (m->setting[i].words[0])
			fprintf(out, "	*%s=) compadd - %s ;;\n", m->setting[i].key,
				m->setting[i].words);
	fprintf(out, "	esac\n}\n\n");
}

static void print_commands(const struct sl_manual *m, FILE *out)
{
	fputs("	case $state in\n"
	      "	command)\n"
	      "		commands=(",
		out);
	for (int c = 0; c < m->n_commands; c++) {
		fprintf(out, "\n			'%s:", m->command[c].name);
		print_quoted(m->command[c].help, ":\\", out);
		fputc('\'', out);
	}
	fputs("\n		)\n"
	      "		_describe command commands\n"
	      "		;;\n"
	      "	operand)\n"
	      "		case $line[1] in\n",
		out);
	for (int c = 0; c < m->n_commands; c++) {
		fprintf(out, "		%s) _arguments", m->command[c].name);
		print_options(m, c, out);
		if (m->command[c].operands.name[0]) {
			fprintf(out, " \\\n		'*");
			print_value(m, &m->command[c].operands, out);
			fputc('\'', out);
		}
		fprintf(out, " ;;\n");
	}
	fprintf(out, "		esac\n		;;\n	esac\n");
}

void sl_completion_zsh(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "#compdef %s\n# Completion of %s for zsh, as printed by: %s zsh\n\n",
		m->program, m->program, m->script);
	if (m->n_settings > 0)
		print_settings(m, out);
	sl_shell_template(m,
		"_~()\n{\n"
		"	local state state_descr context\n"
		"	local -a commands line\n"
		"	local -A opt_args\n\n"
		"	_arguments -C",
		out);
	print_options(m, -1, out);
	fprintf(out, " \\\n		'1:COMMAND:->command' '*::OPERAND:->operand'\n");
	print_commands(m, out);
	sl_shell_template(m,
		"}\n\n"
		"if [[ $funcstack[1] = _~ ]]; then\n"
		"	_~ \"$@\"\n"
		"else\n"
		"	compdef _~ ",
		out);
	fprintf(out, "%s\nfi\n", m->program);
}
