/*
 * man_page.c - a manual page in the macros of man(7).
 *
 * Texts are those of the help, so lines of a table ("term  meaning") become a list with tags, and
 * other lines become a paragraph, which man fills to the width of the screen.
 */
#include "pipeline/manual/man_page.h"

#include <ctype.h>
#include <string.h>

#include "pipeline/text/version.h"

enum { INDENT = 4 }; /* of the details of a command */

/*
 * Prints n bytes so that man shows them unchanged: without the typographic quotes and dashes that some
 * devices make of ASCII, and without a request at the begin of a line.
 */
static void print_bytes(const char *text, size_t n, FILE *out)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {{'-', "\\-"}, {'\\', "\\e"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"},
		{'~', "\\(ti"}, {'"', "\\(dq"}};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };

	if (n > 0 && text[0] == '.')
		fputs("\\&", out);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < NAMES && names[k].letter != text[i])
			k++;
		if (k < NAMES)
			fputs(names[k].name, out);
		else
			fputc(text[i], out);
	}
}

static void print(const char *text, FILE *out)
{
	print_bytes(text, strlen(text), out);
}

/* Prints in bold (B) or italic (I). */
static void print_in(char font, const char *text, FILE *out)
{
	fprintf(out, "\\f%c", font);
	print(text, out);
	fputs("\\fR", out);
}

/* The two spaces that separate the tag of a line from its text; NULL: the line has no tag. */
static const char *gap_of(const char *line, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (line[i] == ' ' && line[i + 1] == ' ')
			return line + i;
	return NULL;
}

/* One line of details, without its indentation. gap: where its tag ends, NULL without a tag. */
static void print_line(const char *line, size_t n, const char *gap, FILE *out)
{
	const char *text = line;

	if (gap) {
		fputs(".TP\n\\fB", out);
		print_bytes(line, (size_t)(gap - line), out);
		fputs("\\fR\n", out);
		text = gap + strspn(gap, " ");
	}
	print_bytes(text, n - (size_t)(text - line), out);
	fputc('\n', out);
}

/* A blank line begins a paragraph. A line that is indented further continues the line before it. */
static void print_details(const char *text, FILE *out)
{
	bool begins = false; /* a paragraph; an entry of a table needs no request for it */

	while (*text) {
		size_t n = strcspn(text, "\n"), indent = strspn(text, " ");

		if (indent >= n) {
			begins = true;
		} else {
			const char *gap = gap_of(text + indent, n - indent);

			if (begins && !gap)
				fputs(".PP\n", out);
			begins = false;
			print_line(text + indent, n - indent, indent > INDENT ? NULL : gap, out);
		}
		text += n + (text[n] == '\n');
	}
}

/* The option and its value, then its help with what the help has in parentheses. */
static void print_option(const struct sl_manual_option *o, bool with_takers, FILE *out)
{
	const char *note = o->note[0] || !with_takers ? o->note : o->takers;

	fputs(".TP\n", out);
	print_in('B', o->name, out);
	if (o->value.name[0]) {
		fputc(' ', out);
		print_in('I', o->value.name, out);
	}
	fputc('\n', out);
	print(o->help, out);
	if (note[0]) {
		fputs(" (", out);
		print(note, out);
		fputc(')', out);
	}
	fputc('\n', out);
}

static void print_options(const struct sl_manual *m, int c, FILE *out)
{
	fputs(".SH OPTIONS\n", out);
	for (int i = 0; i < m->n_options; i++)
		if (c < 0 || sl_manual_takes(&m->option[i], c))
			print_option(&m->option[i], c < 0, out);
}

static void print_exits(const struct sl_manual *m, FILE *out)
{
	fputs(".SH EXIT STATUS\n", out);
	for (int i = 0; i < m->n_exits; i++) {
		fprintf(out, ".TP\n.B %d\n", m->exit[i].code);
		print(m->exit[i].meaning, out);
		fputc('\n', out);
	}
}

/* "sluice-run" in capitals. */
static void print_title(const char *program, const char *command, FILE *out)
{
	for (const char *at = program; *at; at++)
		fputc(toupper((unsigned char)*at), out);
	for (const char *at = command; *at; at++)
		fputc(toupper((unsigned char)*at), out);
}

/* Without hyphenation and adjustment, which would break names of options and of pages. */
static void print_head(const struct sl_manual *m, const struct sl_manual_command *c, FILE *out)
{
	fputs(".TH ", out);
	print_title(m->program, c ? "-" : "", out);
	print_title("", c ? c->name : "", out);
	fprintf(out, " 1 %s \"Sluice %s\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\n",
		sl_commit_date(), sl_version());
	print(m->program, out);
	print(c ? "-" : "", out);
	print(c ? c->name : "", out);
	fputs(" \\- ", out);
	print(c ? c->help : m->purpose, out);
	fputc('\n', out);
}

static void print_synopsis(const struct sl_manual *m, const struct sl_manual_command *c, FILE *out)
{
	fputs(".SH SYNOPSIS\n", out);
	print_in('B', m->program, out);
	fputc(' ', out);
	if (!c) {
		print_in('I', m->synopsis, out);
	} else {
		print_in('B', c->name, out);
		fputc(' ', out);
		print_in('I', c->operands.name, out);
		fputs(c->operands.name[0] ? " " : "", out);
		fputs("[\\fIOPTION\\fR...]", out);
	}
	fputc('\n', out);
}

/* The commands of the program, each with the page that explains it. */
static void print_commands(const struct sl_manual *m, FILE *out)
{
	fputs(".SH COMMANDS\n", out);
	for (int i = 0; i < m->n_commands; i++) {
		fputs(".TP\n", out);
		print_in('B', m->command[i].name, out);
		if (m->command[i].operands.name[0]) {
			fputc(' ', out);
			print_in('I', m->command[i].operands.name, out);
		}
		fputc('\n', out);
		print(m->command[i].help, out);
		fputc('\n', out);
	}
}

static void print_page_name(const char *program, const char *command, const char *end, FILE *out)
{
	fputs(".BR ", out);
	print(program, out);
	print(command[0] ? "-" : "", out);
	print(command, out);
	fprintf(out, " (1)%s\n", end);
}

/* A command refers to the program; the program to its commands if these have pages. */
static void print_see_also(const struct sl_manual *m, int c, FILE *out)
{
	if (c < 0 && !m->pages && !m->see_also[0])
		return;
	fputs(".SH SEE ALSO\n", out);
	if (c >= 0) {
		print_page_name(m->program, "", "", out);
		return;
	}
	for (int i = 0; m->pages && i < m->n_commands; i++)
		print_page_name(m->program, m->command[i].name,
			i + 1 < m->n_commands || m->see_also[0] ? "," : "", out);
	if (m->see_also[0])
		print_page_name(m->see_also, "", "", out);
}

void sl_man_page(const struct sl_manual *m, int c, FILE *out)
{
	const struct sl_manual_command *command = c < 0 ? NULL : &m->command[c];
	const char *details = command ? command->details : m->details;

	fprintf(out, ".\\\" Made by the program from the tables of its help.\n");
	print_head(m, command, out);
	print_synopsis(m, command, out);
	if (details[0]) {
		fputs(".SH DESCRIPTION\n", out);
		print_details(details[0] == '\n' ? details + 1 : details, out);
	}
	if (!command)
		print_commands(m, out);
	print_options(m, c, out);
	print_exits(m, out);
	print_see_also(m, c, out);
}
