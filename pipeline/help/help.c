/*
 * help.c - sluice help: prints the help of commands, keys, models, columns and fates.
 *
 * All texts come from the tables that the program itself uses (commands.def, args.def, sl_options,
 * the options of each model, columns.def, fates.def), so the help cannot differ from the program. A
 * word can have several meanings; all of them are printed.
 */
#include "pipeline/help/help.h"

#include <float.h>
#include <string.h>

#include "pipeline/args/args.h"
#include "pipeline/config/config.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/text/text.h"
#include "stages/models/models.h"

/* The most words that a suggestion chooses from, enough for the keys of more models. */
enum { WORDS_MAX = 512 };

/* The end of a range of counts. 2^64 - 1 is no double, so the tables have 2^64 for it. */
static uint64_t count_of(double end)
{
	return end < 0x1p64 ? (uint64_t)end : UINT64_MAX;
}

/*
 * Prints the range of a real option with its unit. The ends of the range of double mean no limit.
 */
static void print_ends(const struct sl_option *o, FILE *out)
{
	const char *unit;
	double lo = sl_value_end(o, o->lo, &unit);

	if (o->lo == DBL_MIN && o->hi == DBL_MAX)
		fprintf(out, "above 0");
	else if (o->hi == DBL_MAX)
		fprintf(out, "%.10g", o->lo);
	else if (lo < o->lo && isinf(o->hi))
		fprintf(out, "%.10g %s to inf", lo, unit);
	else
		fprintf(out, "%.10g to %.10g", o->lo, o->hi);
	unit = lo < o->lo ? "" : unit;
	fprintf(out, "%s%s%s", unit[0] ? " " : "", unit,
		o->hi == DBL_MAX && o->lo != DBL_MIN ? " or more" : "");
}

/*
 * The words are those of a person, not of the type: a count is a whole number, and a real number
 * has a unit, in which lo and hi of the table are.
 */
void sl_help_range(const struct sl_option *o, FILE *out)
{
	static const char *const kinds[] = {[SL_KIND_BOOL] = "true or false",
		[SL_KIND_TEXT] = "text",
		[SL_KIND_TEXTS] = "list of words",
		[SL_KIND_LINES] = "text, or list of texts",
		[SL_KIND_NAMED] = "mapping of names to texts"};

	switch (o->kind) {
	case SL_KIND_COUNT:
	case SL_KIND_COUNTS:
		fprintf(out, "whole number%s, %lu to %lu%s", o->kind == SL_KIND_COUNTS ? "s" : "",
			count_of(o->lo), count_of(o->hi), o->automatic ? ", or auto" : "");
		break;
	case SL_KIND_REAL:
	case SL_KIND_REALS:
	case SL_KIND_VECTOR:
		fprintf(out, "%snumber%s, ", o->kind == SL_KIND_VECTOR ? "three " : "",
			o->kind == SL_KIND_REAL ? "" : "s");
		print_ends(o, out);
		break;
	case SL_KIND_CHOICE:
		for (int i = 0; o->choices[i]; i++)
			fprintf(out, "%s%s", i ? ", " : "one of ", o->choices[i]);
		break;
	case SL_KIND_ITEMS:
		fprintf(out, "list of %g to %g, each with the keys below it", o->lo, o->hi);
		break;
	default:
		fputs(kinds[o->kind], out);
	}
}

/*
 * Prints an option in four parts: its path, its help, the accepted values, and its default. An
 * option without a fallback is computed by the program or is required.
 */
static void print_option(const char *path, const struct sl_option *o, FILE *out)
{
	fprintf(out, "%s\n    %s\n    ", path, o->help);
	sl_help_range(o, out);
	if (o->fallback)
		fprintf(out, "; default %s", o->fallback[0] ? o->fallback : "empty");
	fprintf(out, "%s\n", o->required ? "; required" : "");
}

/* Does the word mean the key? leaf: as its last part; else as the key itself or a section of it. */
static bool is_meant(const char *path, const char *word, bool leaf)
{
	size_t n = strlen(word);

	if (leaf)
		return strcmp(sl_key_leaf(path), word) == 0;
	return strncmp(path, word, n) == 0 && (path[n] == '\0' || path[n] == '.' || path[n] == '[');
}

/*
 * Prints the options that the word means, and returns how many there are. The name of a model means
 * its section.
 */
static int print_keys(const char *word, bool leaf, FILE *out)
{
	const struct sl_model *model;
	const struct sl_option *o;
	int found = 0;

	for (size_t i = 0; (o = sl_option_of_all(i, &model)) != NULL; i++) {
		char path[SL_KEY_BYTES];
		bool section = model && strcmp(word, model->name) == 0;

		sl_option_path(model, o, path);
		if (is_meant(path, section ? sl_said("model.%s", word) : word, leaf)) {
			print_option(path, o, out);
			found++;
		}
	}
	return found;
}

/*
 * Prints the column and the fate of that name, with the unit of the column; returns 0 if none
 * exists.
 */
static int print_words(const char *word, FILE *out)
{
	enum sl_column column = sl_column_named(word);
	enum sl_fate fate = sl_fate_find(word);

	if (column < SL_COLUMN_COUNT)
		fprintf(out, "column %s\n    %s%s%s\n", sl_column_facts[column].name,
			sl_column_facts[column].help, sl_column_facts[column].unit ? ", in " : "",
			sl_units[sl_column_facts[column].unit].text);
	if (fate < SL_FATE_COUNT)
		fprintf(out, "fate %s\n    %s\n", word, sl_fate_facts[fate].help);
	return column < SL_COLUMN_COUNT || fate < SL_FATE_COUNT;
}

/*
 * The nearest of all words that have help, for a word that was misspelt; NULL if none is near. Of a
 * key only the last part is compared, because that part alone is enough to name it.
 */
static const char *nearest(const char *word)
{
	const char *words[WORDS_MAX] = {"model"};
	const struct sl_model *model;
	const struct sl_option *o;
	size_t n = 1;

	for (int c = 0; c < SL_COMMAND_NONE; c++)
		words[n++] = sl_commands[c].name;
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (!sl_is_named_column(c))
			words[n++] = sl_column_facts[c].name;
	for (int f = 0; f < SL_FATE_COUNT; f++)
		words[n++] = sl_fate_facts[f].name;
	for (size_t i = 0; (o = sl_option_of_all(i, &model)) != NULL && n + 1 < WORDS_MAX; i++) {
		if (model && o == model->options)
			words[n++] = model->name;
		words[n++] = sl_key_leaf(o->key);
	}
	return sl_nearest(sl_key_leaf(word), words, n);
}

/* Every meaning is printed: "time" can be a column, and the last part of several keys. */
enum sl_status sl_help(const char *word, FILE *out)
{
	enum sl_command command;
	const char *near;
	int found;

	if (!word) {
		sl_args_help(out);
		return SL_OK;
	}
	command = sl_command_find(word);
	if (command != SL_COMMAND_NONE)
		sl_args_help_command(command, out);
	found = print_words(word, out) + print_keys(word, false, out);
	/* The last part of a key is only tried for a word without another meaning. */
	if (found == 0 && command == SL_COMMAND_NONE)
		found = print_keys(word, true, out);
	if (found > 0 || command != SL_COMMAND_NONE)
		return SL_OK;
	near = nearest(word);
	return sl_fail(SL_USAGE,
		"%s: no command, key, model, column or fate has this name%s%s; see sluice --help "
		"for commands and sluice list for the others",
		word, near ? ", did you mean " : "", near ? near : "");
}
