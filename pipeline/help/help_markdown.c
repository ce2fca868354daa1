/*
 * help_markdown.c - sluice help --markdown: the reference of all configuration keys as Markdown.
 *
 * docs/configuration.md contains this text below its introduction; tests/docs/run.py compares them,
 * so every change of a help text shows in the documentation. The text is first made in memory with
 * one line per item, however long, and then broken into lines: the length of an item is only known
 * when it is complete.
 */
#include <stdlib.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/help/help.h"
#include "pipeline/resolve/choices/choices.h"
#include "stages/models/models.h"

enum { LINE_COLUMNS = 100 }; /* the longest line of all Markdown of the project */

/*
 * Prints a line without its newline as lines of at most LINE_COLUMNS characters. The lines after
 * the first are indented, so that Markdown takes them as parts of the same list item.
 */
static void print_wrapped(const char *text, const char *end, FILE *out)
{
	size_t column = 0;

	while (text < end) {
		size_t n = strcspn(text, " \n");
		bool fits = column + 1 + n <= LINE_COLUMNS;

		fprintf(out, "%s%.*s", column == 0 ? "" : fits ? " " : "\n  ", (int)n, text);
		column = column == 0 ? n : (fits ? column + 1 : 2) + n;
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

/* An item per key: path, meaning, accepted values, default, and when it may change. */
static void print_key(const struct sl_option *o, const char *path, FILE *out)
{
	const char *quote = o->fallback && o->fallback[0] ? "`" : "";

	fprintf(out, "- `%s`: %s. Value: ", path, o->help);
	sl_help_range(o, out);
	if (o->fallback)
		fprintf(out, "; default: %s%s%s", quote, o->fallback[0] ? o->fallback : "empty",
			quote);
	fprintf(out, "%s%s.\n", o->required ? "; required" : "",
		o->free ? "; may change on `--resume`" : "");
}

/*
 * Prints the keys of all tables, in their order, with a heading wherever the section changes: "run"
 * of a common key, "model.slab" of a key of a model.
 */
static void print_keys(FILE *out)
{
	char path[SL_KEY_BYTES], section[SL_KEY_BYTES] = "";
	const struct sl_model *model;
	const struct sl_option *o;

	for (size_t i = 0; (o = sl_option_of_all(i, &model)) != NULL; i++) {
		const char *dot;
		size_t bytes;

		if (i == 0 || i == sl_n_options)
			fprintf(out, "%s## Keys of %s\n", i ? "\n" : "",
				i ? "each model" : "all models");
		sl_option_path(model, o, path);
		dot = strchr(path, '.');
		if (dot && model)
			dot = strchr(dot + 1, '.');
		bytes = dot ? (size_t)(dot - path) : strlen(path);
		if (strlen(section) != bytes || strncmp(section, path, bytes) != 0) {
			snprintf(section, SL_KEY_BYTES, "%.*s", (int)bytes, path);
			fprintf(out, "\n### `%s`\n\n", section);
		}
		print_key(o, path, out);
	}
}

/* A column with its unit and the models that have it. */
static void print_column(enum sl_column c, FILE *out)
{
	const struct sl_column_facts *facts = &sl_column_facts[c];
	const char *unit = sl_units[facts->unit].text;

	fprintf(out, "- `%s`%s%s: %s.", facts->name, unit[0] ? ", in " : "", unit, facts->help);
	if (SL_HAS(SL_DERIVED_COLUMNS, c)) {
		fprintf(out, "\n");
		return;
	}
	fprintf(out, " Models:");
	for (int m = 0, found = 0; m < sl_n_models; m++)
		if (SL_HAS(sl_models[m]->columns, c))
			fprintf(out, "%s %s", found++ ? "," : "", sl_models[m]->name);
	fprintf(out, ".\n");
}

/* A fate with the models that can give it; fates of no model come from the pipeline itself. */
static void print_fate(enum sl_fate f, FILE *out)
{
	int found = 0;

	fprintf(out, "- `%s`: %s.", sl_fate_facts[f].name, sl_fate_facts[f].help);
	for (int m = 0; m < sl_n_models; m++)
		if (SL_HAS(sl_models[m]->fates, f))
			fprintf(out, "%s %s", found++ ? "," : " Models:", sl_models[m]->name);
	fprintf(out, found ? ".\n" : " Any model.\n");
}

/*
 * One line per dimension, without numbers, which have no unit. The first unit is the one used
 * inside the program and in files.
 */
static void print_units(FILE *out)
{
	for (int d = 0; d < SL_DIMENSION_COUNT; d++) {
		int found = 0;

		for (int u = 0; u < SL_UNIT_COUNT && d != SL_DIM_NUMBER; u++)
			if ((int)sl_units[u].dimension == d)
				fprintf(out, "%s`%s`", found++ ? ", " : "- ", sl_units[u].text);
		if (found)
			fputc('\n', out);
	}
}

/* Prints the complete reference, one line per item. Its sections are headings of the document. */
static void print_all(FILE *out)
{
	print_keys(out);
	fprintf(out, "\n## Columns\n\n");
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (!sl_is_named_column(c))
			print_column((enum sl_column)c, out);
	fprintf(out, "\n## Fates\n\n");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		print_fate((enum sl_fate)f, out);
	fprintf(out, "\n## Units\n\n");
	print_units(out);
	fprintf(out, "\n## Particles\n\n");
	for (int i = 0; i < SL_SPECIES_COUNT; i++)
		fprintf(out, "- `%s`: %d\n", sl_species[i].name, (int)sl_species[i].code);
}

/*
 * The text exists in memory before its first line is printed, so a lack of memory leaves no part of
 * a document, which a reader could take for the whole one.
 */
enum sl_status sl_help_markdown(FILE *out)
{
	struct sl_text_memory t;
	size_t bytes;
	char *text;

	SL_TRY(sl_text_memory_begin(&t));
	print_all(t.out);
	SL_TRY(sl_text_memory_end(&t, "help --markdown", &text, &bytes));
	for (const char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		print_wrapped(line, end, out);
	}
	free(text);
	return SL_OK;
}
