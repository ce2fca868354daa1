/*
 * args_help.c - the text of sluice --help, and the help of one command, from the tables of the
 * command line.
 */
#include "pipeline/args/args.h"

enum { NOTE_BYTES = 128 };

/*
 * Writes the note that follows the help of an option in parentheses: the key of a setting with its
 * default ("run.mode; default auto"), and if all, the commands that take another option. "" if
 * there is nothing to say. Returns note.
 */
static const char *write_note(const struct sl_args_option *option, bool all, char note[NOTE_BYTES])
{
	const struct sl_model *model;
	const char *fallback;

	note[0] = '\0';
	if (option->key) {
		fallback = sl_option_find(option->key, &model)->fallback;
		sl_append(note, NOTE_BYTES, "%s%s%s", option->key,
			fallback && fallback[0] ? "; default " : "", fallback ? fallback : "");
	} else if (all) {
		sl_append(note, NOTE_BYTES, "%s", option->commands);
	}
	return note;
}

/* Prints the options of a command, or all options if it is SL_COMMAND_NONE. */
static void print_options(enum sl_command command, FILE *out)
{
	bool all = command == SL_COMMAND_NONE;
	const struct sl_args_option *o;

	for (size_t i = 0; (o = sl_args_option_at(i)) != NULL; i++) {
		char text[64], note[NOTE_BYTES];

		if (!all && !sl_args_takes(command, o))
			continue;
		snprintf(text, sizeof(text), "--%s%s%s", o->name, o->value[0] ? " " : "", o->value);
		fprintf(out, "  %-26s %s", text, o->help);
		if (write_note(o, all, note)[0])
			fprintf(out, " (%s)", note);
		fputc('\n', out);
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
	char left[64];

	fprintf(out,
		"Usage: sluice COMMAND [OPERAND...] [OPTION...]\n\n"
		"Computes batches of particles or rays on a GPU or on the CPU: generates them, "
		"removes the dead\nones, sorts the survivors and writes them compressed. A "
		"configuration in YAML says what to compute.\n\nCommands:\n");
	for (int c = 0; c < SL_COMMAND_NONE; c++) {
		snprintf(left, sizeof(left), "%s %s", sl_commands[c].name, sl_commands[c].operands);
		fprintf(out, "  %-17s %s\n", left, sl_commands[c].help);
	}
	fprintf(out, "\nOptions:\n");
	print_options(SL_COMMAND_NONE, out);
	fprintf(out, "\nExit codes:\n");
#define SL_STATUS(name, code, meaning) fprintf(out, "  %-4d %s\n", code, meaning);
#include "primitives/base/status.def"
#undef SL_STATUS
}
