/*
 * completion_bash.c - the completion of bash.
 *
 * bash splits the command line at '=' and ':' too, so the script first joins the parts of a word. A
 * function replies with words; names of files and folders are left to readline, which quotes them.
 */
#include "pipeline/manual/completion_bash.h"

#include "pipeline/manual/shell_text.h"

/* readline replaces only the part of a word after the last '=' or ':', so that part is the reply. */
static const char reply[] =
	"_~_reply()\n"
	"{\n"
	"	local breaks=${COMP_WORDBREAKS//[^=:]/} start=''\n"
	"\n"
	"	mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$current\")\n"
	"	COMPREPLY=(\"${COMPREPLY[@]/#/$lead}\")\n"
	"	[[ -z $breaks ]] || start=${typed%\"${typed##*[\"$breaks\"]}\"}\n"
	"	COMPREPLY=(\"${COMPREPLY[@]#\"$start\"}\")\n"
	"	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
	"}\n\n";

static const char split[] =
	"_~()\n"
	"{\n"
	"	local current previous typed lead='' command='' rest=$COMP_LINE word i\n"
	"	local -a words=()\n"
	"\n"
	"	COMPREPLY=()\n"
	"	for word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
	"		if [[ ${#words[@]} -eq 0 || $rest == [[:space:]]* ]]; then\n"
	"			words+=(\"$word\")\n"
	"		else\n"
	"			words[-1]+=$word\n"
	"		fi\n"
	"		rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
	"		rest=${rest#\"$word\"}\n"
	"	done\n"
	"	typed=${words[-1]} current=$typed previous=${words[-2]}\n";

static const char joined[] =
	"	if [[ $current == --*=* ]]; then\n"
	"		previous=${current%%=*} lead=$previous= current=${current#*=}\n"
	"	fi\n";

/* The replies to a value: words, files or folders. One line of a case. */
static void print_value(const struct sl_manual *m, const struct sl_manual_value *value, FILE *out)
{
	if (value->by == SL_COMPLETE_SETTINGS)
		sl_shell_template(m, " _~_settings;", out);
	if (value->words[0]) {
		sl_shell_template(m, " _~_reply ", out);
		fprintf(out, "%s;", value->words);
	}
	if (value->by == SL_COMPLETE_FILES)
		fprintf(out, " compopt -o default;");
	if (value->by == SL_COMPLETE_FOLDERS)
		fprintf(out, " compopt -o dirnames;");
}

/* KEY= until there is a '=', then the words of the key. */
static void print_settings(const struct sl_manual *m, FILE *out)
{
	sl_shell_template(m, "_~_settings()\n{\n	case $current in\n", out);
	for (int i = 0; i < m->n_settings; i++) {
		if (!m->setting[i].words[0])
			continue;
		fprintf(out, "\t%s=*) lead+=${current%%%%=*}= current=${current#*=};",
			m->setting[i].key);
		sl_shell_template(m, " _~_reply ", out);
		fprintf(out, "%s ;;\n", m->setting[i].words);
	}
	sl_shell_template(m, "	*=*) ;;\n	*) _~_reply", out);
	sl_shell_keys(m, out);
	fprintf(out, " ;;\n	esac\n}\n\n");
}

/* The command is the first word that is no option and no value of an option. */
static void print_search(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "	for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
		     "		case ${words[i]} in\n		");
	sl_shell_value_options(m, " | ", out);
	fprintf(out, ") ((i++)) ;;\n"
		     "		-*) ;;\n"
		     "		*) command=${words[i]}; break ;;\n"
		     "		esac\n"
		     "	done\n");
}

static void print_option_values(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "	case $previous in\n");
	for (int i = 0; i < m->n_options; i++) {
		if (!m->option[i].value.name[0])
			continue;
		fprintf(out, "	%s)", m->option[i].name);
		print_value(m, &m->option[i].value, out);
		fprintf(out, " return ;;\n");
	}
	fprintf(out, "	esac\n	[[ -z $lead ]] || return\n");
}

/* A word with a dash is an option, each other one a command or one of its operands. */
static void print_words(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "	case $command:$current in\n");
	for (int c = -1; c < m->n_commands; c++) {
		fprintf(out, "	%s:-*)", c < 0 ? "" : m->command[c].name);
		sl_shell_template(m, " _~_reply", out);
		sl_shell_options_of(m, c, out);
		fprintf(out, " ;;\n");
	}
	sl_shell_template(m, "	:*) _~_reply", out);
	for (int c = 0; c < m->n_commands; c++)
		fprintf(out, " %s", m->command[c].name);
	fprintf(out, " ;;\n");
	for (int c = 0; c < m->n_commands; c++) {
		fprintf(out, "	%s:*)", m->command[c].name);
		print_value(m, &m->command[c].operands, out);
		fprintf(out, " ;;\n");
	}
	fprintf(out, "	esac\n");
}

void sl_completion_bash(const struct sl_manual *m, FILE *out)
{
	fprintf(out, "# Completion of %s for bash, as printed by: %s bash\n\n", m->program,
		m->script);
	sl_shell_template(m, reply, out);
	if (m->n_settings > 0)
		print_settings(m, out);
	sl_shell_template(m, split, out);
	if (m->joined)
		fputs(joined, out);
	print_search(m, out);
	print_option_values(m, out);
	print_words(m, out);
	sl_shell_template(m, "}\n\ncomplete -F _~ ", out);
	fprintf(out, "%s\n", m->program);
}
