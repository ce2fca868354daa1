/*
 * help_markdown.c - sluice help --markdown: the reference of all configuration keys as Markdown.
 *
 * docs/configuration.md contains this text below its introduction; tests/docs/run.py compares them,
 * so every change of a help text shows in the documentation. Each item is formatted into one buffer
 * and then broken into lines, because the length of an item is only known when it is complete.
 */
#include <string.h>

#include "pipeline/help/help.h"
#include "pipeline/help/help_markdown.h"
#include "pipeline/config/config.h"
#include "pipeline/config/options.h"

/* An item is the text of one key. Lines have at most LINE_COLUMNS characters, as all Markdown here. */
enum { ITEM_BYTES = 4096, LINE_COLUMNS = 100 };

/* Prints a list item; its lines end before LINE_COLUMNS, later lines are indented. */
static void print_item(const char *text, FILE *out)
{
	size_t column = 1;

	fputc('-', out);
	while (*text) {
		size_t n = strcspn(text, " \n");
		bool fits = column + 1 + n <= LINE_COLUMNS;

		fprintf(out, "%s%.*s", fits ? " " : "\n  ", (int)n, text);
		column = (fits ? column + 1 : 2) + n;
		text += n + strspn(text + n, " \n");
	}
	fputc('\n', out);
}

/* A stream that writes to text, which is complete after close_item(). NULL: no memory. */
static FILE *open_item(char text[ITEM_BYTES])
{
	return fmemopen(text, ITEM_BYTES, "w");
}

/* Closes the stream and prints its text as a list item. item may be NULL. */
static enum sl_status close_item(FILE *item, const char *text, FILE *out)
{
	if (!item || fclose(item) != 0)
		return sl_fail(SL_HOST_MEMORY,
			"help: the text of a key could not be formatted (no memory, or longer than %d "
			"bytes); close other programs",
			ITEM_BYTES);
	print_item(text, out);
	return SL_OK;
}

static enum sl_status print_key(const struct sl_option *o, const char *path, FILE *out)
{
	char text[ITEM_BYTES];
	FILE *item = open_item(text);

	if (item) {
		fprintf(item, "`%s`: %s. Value: ", path, o->help);
		sl_help_range(o, item);
		if (o->fallback)
			fprintf(item, "; default: %s%s%s", o->fallback[0] ? "`" : "",
				o->fallback[0] ? o->fallback : "empty", o->fallback[0] ? "`" : "");
		fprintf(item, "%s%s.", o->required ? "; required" : "",
			o->free ? "; may change on `--resume`" : "");
	}
	return close_item(item, text, out);
}

/*
 * Prints the keys of one table, in its order, with a heading wherever the section changes. section is
 * the last heading: "run" of a common key, "model.slab" of a key of a model.
 */
static enum sl_status print_keys(const struct sl_model *model, const struct sl_option *options,
	size_t n, char section[SL_KEY_BYTES], FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		char path[SL_KEY_BYTES];
		const char *dot;
		size_t bytes;

		sl_option_path(model, &options[i], path);
		dot = strchr(path, '.');
		if (dot && model)
			dot = strchr(dot + 1, '.');
		bytes = dot ? (size_t)(dot - path) : strlen(path);
		if (strlen(section) != bytes || strncmp(section, path, bytes) != 0) {
			snprintf(section, SL_KEY_BYTES, "%.*s", (int)bytes, path);
			fprintf(out, "\n### `%s`\n\n", section);
		}
		SL_TRY(print_key(&options[i], path, out));
	}
	return SL_OK;
}

/* A column with its unit and the models that have it. */
static enum sl_status print_column(enum sl_column c, FILE *out)
{
	const struct sl_column_facts *facts = &sl_column_facts[c];
	const char *unit = sl_units[facts->unit].text;
	char text[ITEM_BYTES];
	FILE *item = open_item(text);

	if (item) {
		fprintf(item, "`%s`%s%s: %s. Models:", facts->name, unit[0] ? ", in " : "", unit,
			facts->help);
		for (int m = 0, found = 0; m < SL_MODEL_COUNT; m++)
			if (SL_HAS(sl_models[m]->columns, c))
				fprintf(item, "%s %s", found++ ? "," : "", sl_models[m]->name);
		fprintf(item, ".");
	}
	return close_item(item, text, out);
}

/* A fate with the models that can give it; fates of no model come from the pipeline itself. */
static enum sl_status print_fate(enum sl_fate f, FILE *out)
{
	char text[ITEM_BYTES];
	FILE *item = open_item(text);

	if (item) {
		int found = 0;

		fprintf(item, "`%s`: %s.", sl_fate_facts[f].name, sl_fate_facts[f].help);
		for (int m = 0; m < SL_MODEL_COUNT; m++)
			if (SL_HAS(sl_models[m]->fates, f))
				fprintf(item, "%s %s",
					found++ ? "," : " Models:", sl_models[m]->name);
		fprintf(item, found ? "." : " Any model.");
	}
	return close_item(item, text, out);
}

/* One line per dimension: the first unit is the one used inside the program and in files. */
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

enum sl_status sl_help_markdown(FILE *out)
{
	char section[SL_KEY_BYTES] = "";

	fprintf(out, "## Keys of all models\n");
	SL_TRY(print_keys(NULL, sl_options, sl_n_options, section, out));
	fprintf(out, "\n## Keys of each model\n");
	for (int m = 0; m < SL_MODEL_COUNT; m++)
		SL_TRY(print_keys(sl_models[m], sl_models[m]->options, sl_models[m]->n_options,
			section, out));
	fprintf(out, "\n## Columns\n\n");
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		SL_TRY(print_column((enum sl_column)c, out));
	fprintf(out, "\n## Fates\n\n");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		SL_TRY(print_fate((enum sl_fate)f, out));
	fprintf(out, "\n## Units\n\n");
	print_units(out);
	return SL_OK;
}
