/* help.c - prints the tables. */
#include "pipeline/help.h"

#include <string.h>

#include "pipeline/args.h"
#include "pipeline/config.h"
#include "pipeline/json.h"
#include "pipeline/options.h"
#include "stages/formats/format.h"

enum { LIST_BYTES = 1 << 16 };

static void print_range(const struct sl_option *o, FILE *out)
{
	const char *unit = sl_dimensions[o->dimension].unit;

	switch (o->kind) {
	case SL_KIND_COUNT:
	case SL_KIND_COUNTS:
		fprintf(out, "whole number%s, %.16g to %.16g%s",
			o->kind == SL_KIND_COUNTS ? "s" : "", o->lo, o->hi,
			o->automatic ? ", or auto" : "");
		break;
	case SL_KIND_REAL:
	case SL_KIND_REALS:
		fprintf(out, "number%s, %g to %g%s%s", o->kind == SL_KIND_REALS ? "s" : "", o->lo,
			o->hi, unit[0] ? " " : "", unit);
		break;
	case SL_KIND_BOOL:
		fprintf(out, "true or false");
		break;
	case SL_KIND_CHOICE:
		for (int i = 0; o->choices[i]; i++)
			fprintf(out, "%s%s", i ? ", " : "one of ", o->choices[i]);
		break;
	case SL_KIND_TEXT:
		fprintf(out, "text");
		break;
	case SL_KIND_TEXTS:
		fprintf(out, "list of words");
		break;
	}
}

static void print_option(const struct sl_model *model, const struct sl_option *o, FILE *out)
{
	char path[SL_KEY_BYTES];

	sl_option_path(model, o, path);
	fprintf(out, "%s\n    %s\n    ", path, o->help);
	print_range(o, out);
	if (o->fallback)
		fprintf(out, "; default %s", o->fallback[0] ? o->fallback : "empty");
	fprintf(out, "%s\n", o->required ? "; required" : "");
}

/* Is path the word itself or a key below it? */
static bool is_below(const char *path, const char *word)
{
	size_t n = strlen(word);

	return strncmp(path, word, n) == 0 && (path[n] == '\0' || path[n] == '.');
}

static int print_options(const struct sl_model *model, const struct sl_option *options, size_t n,
	const char *word, FILE *out)
{
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		char path[SL_KEY_BYTES];

		sl_option_path(model, &options[i], path);
		if (is_below(path, word)) {
			print_option(model, &options[i], out);
			found++;
		}
	}
	return found;
}

static int print_keys(const char *word, FILE *out)
{
	int found = print_options(NULL, sl_options, sl_n_options, word, out);

	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		char path[SL_KEY_BYTES];

		snprintf(path, sizeof(path), "model.%s", sl_models[m]->name);
		found += print_options(sl_models[m], sl_models[m]->options, sl_models[m]->n_options,
			strcmp(word, sl_models[m]->name) == 0 ? path : word, out);
	}
	return found;
}

static int print_words(const char *word, FILE *out)
{
	enum sl_column column = sl_column_find(word);
	enum sl_fate fate = sl_fate_find(word);

	if (column < SL_COLUMN_COUNT)
		fprintf(out, "column %s\n    %s%s%s\n", word, sl_column_facts[column].help,
			sl_column_facts[column].unit ? ", in " : "",
			sl_units[sl_column_facts[column].unit].text);
	if (fate < SL_FATE_COUNT)
		fprintf(out, "fate %s\n    %s\n", word, sl_fate_facts[fate].help);
#define X(name, operand, help)        \
	if (strcmp(word, #name) == 0) \
		fprintf(out, "sluice %s %s\n    %s\n", #name, operand, help);
	SL_COMMANDS(X)
#undef X
	return column < SL_COLUMN_COUNT || fate < SL_FATE_COUNT;
}

static bool is_command(const char *word)
{
#define X(name, operand, help)        \
	if (strcmp(word, #name) == 0) \
		return true;
	SL_COMMANDS(X)
#undef X
	return false;
}

enum sl_status sl_help(const char *word, FILE *out)
{
	int found;

	if (!word) {
		sl_args_help(out);
		return SL_OK;
	}
	found = print_words(word, out) + print_keys(word, out);
	if (found > 0 || is_command(word))
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s: no command, key, model, column or fate is called that, see sluice --help and "
		"sluice list",
		word);
}

static void list_text(FILE *out)
{
	fprintf(out, "models\n");
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		fprintf(out, "  %-16s %s\n  %16s columns:", sl_models[m]->name, sl_models[m]->help,
			"");
		for (int c = 0; c < SL_COLUMN_COUNT; c++)
			if (SL_HAS(sl_models[m]->columns, c))
				fprintf(out, " %s", sl_column_facts[c].name);
		fprintf(out, "\n  %16s fates:", "");
		for (int f = 0; f < SL_FATE_COUNT; f++)
			if (SL_HAS(sl_models[m]->fates, f))
				fprintf(out, " %s", sl_fate_facts[f].name);
		fprintf(out, "\n");
	}
	fprintf(out, "columns\n");
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		fprintf(out, "  %-16s %-4s %s\n", sl_column_facts[c].name,
			sl_units[sl_column_facts[c].unit].text, sl_column_facts[c].help);
	fprintf(out, "fates\n");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		fprintf(out, "  %-16s %s\n", sl_fate_facts[f].name, sl_fate_facts[f].help);
	fprintf(out, "backends\n");
	for (size_t i = 0; sl_backend_at(i); i++)
		fprintf(out, "  %-8s %-14s %-7s %s\n",
			sl_primitive_name(sl_backend_at(i)->primitive), sl_backend_at(i)->name,
			sl_backend_at(i)->space == SL_DEVICE ? "device" : "host",
			sl_backend_at(i)->help);
	fprintf(out, "formats\n");
	for (int i = 0; sl_formats[i]; i++)
		fprintf(out, "  %-16s %s\n", sl_formats[i]->name, sl_formats[i]->help);
}

static void list_models(struct sl_json *j)
{
	sl_json_array(j, "models");
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		sl_json_object(j, NULL);
		sl_json_text(j, "name", sl_models[m]->name);
		sl_json_text(j, "help", sl_models[m]->help);
		sl_json_array(j, "columns");
		for (int c = 0; c < SL_COLUMN_COUNT; c++)
			if (SL_HAS(sl_models[m]->columns, c))
				sl_json_text(j, NULL, sl_column_facts[c].name);
		sl_json_close(j);
		sl_json_array(j, "fates");
		for (int f = 0; f < SL_FATE_COUNT; f++)
			if (SL_HAS(sl_models[m]->fates, f))
				sl_json_text(j, NULL, sl_fate_facts[f].name);
		sl_json_close(j);
		sl_json_close(j);
	}
	sl_json_close(j);
}

static void list_backends(struct sl_json *j)
{
	sl_json_array(j, "backends");
	for (size_t i = 0; sl_backend_at(i); i++) {
		sl_json_object(j, NULL);
		sl_json_text(j, "primitive", sl_primitive_name(sl_backend_at(i)->primitive));
		sl_json_text(j, "name", sl_backend_at(i)->name);
		sl_json_text(j, "space", sl_backend_at(i)->space == SL_DEVICE ? "device" : "host");
		sl_json_text(j, "help", sl_backend_at(i)->help);
		sl_json_close(j);
	}
	sl_json_close(j);
	sl_json_array(j, "formats");
	for (int i = 0; sl_formats[i]; i++)
		sl_json_text(j, NULL, sl_formats[i]->name);
	sl_json_close(j);
}

enum sl_status sl_help_list(bool json, FILE *out)
{
	static char text[LIST_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), true);

	if (!json) {
		list_text(out);
		return SL_OK;
	}
	sl_json_object(&j, NULL);
	list_models(&j);
	list_backends(&j);
	sl_json_close(&j);
	if (!sl_json_fits(&j))
		return sl_fail(SL_INTERNAL, "the list has outgrown its buffer");
	fprintf(out, "%s\n", text);
	return SL_OK;
}
