/* help.c - sluice help: prints the tables of options, columns and fates. */
#include "pipeline/cli/help.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "pipeline/resolve/choices/names.h"
#include "pipeline/cli/args.h"
#include "pipeline/config/config.h"
#include "pipeline/config/options.h"
#include "pipeline/resolve/resolve.h"
#include "pipeline/text/messages.h"

enum { WORDS_MAX = 512 };

/* 2^64 stands for the largest count, next to which there is no double. */
static uint64_t count_of(double end)
{
	return end < 0x1p64 ? (uint64_t)end : UINT64_MAX;
}

/* Ends that are those of all doubles, or next to 0, are told in words. */
static void print_ends(const struct sl_option *o, FILE *out)
{
	const char *unit = sl_dimensions[o->dimension].unit;

	if (o->lo == DBL_MIN && o->hi == DBL_MAX)
		fprintf(out, "above 0");
	else if (o->hi == DBL_MAX)
		fprintf(out, "%.10g", o->lo);
	else
		fprintf(out, "%.10g to %.10g", o->lo, o->hi);
	fprintf(out, "%s%s%s", unit[0] ? " " : "", unit,
		o->hi == DBL_MAX && o->lo != DBL_MIN ? " or more" : "");
}

void sl_help_range(const struct sl_option *o, FILE *out)
{
	switch (o->kind) {
	case SL_KIND_COUNT:
	case SL_KIND_COUNTS:
		fprintf(out, "whole number%s, %" PRIu64 " to %" PRIu64 "%s",
			o->kind == SL_KIND_COUNTS ? "s" : "", count_of(o->lo), count_of(o->hi),
			o->automatic ? ", or auto" : "");
		break;
	case SL_KIND_REAL:
	case SL_KIND_REALS:
	case SL_KIND_VECTOR:
		fprintf(out, "%snumber%s, ", o->kind == SL_KIND_VECTOR ? "three " : "",
			o->kind == SL_KIND_REAL ? "" : "s");
		print_ends(o, out);
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
	case SL_KIND_LINES:
		fprintf(out, "text, or list of texts");
		break;
	case SL_KIND_ITEMS:
		fprintf(out, "list of %g to %g, each with the keys below it", o->lo, o->hi);
		break;
	}
}

static void print_option(const struct sl_model *model, const struct sl_option *o, FILE *out)
{
	char path[SL_KEY_BYTES];

	sl_option_path(model, o, path);
	fprintf(out, "%s\n    %s\n    ", path, o->help);
	sl_help_range(o, out);
	if (o->fallback)
		fprintf(out, "; default %s", o->fallback[0] ? o->fallback : "empty");
	fprintf(out, "%s\n", o->required ? "; required" : "");
}

/* Is path the word itself or a key below it? */
static bool is_below(const char *path, const char *word)
{
	size_t n = strlen(word);

	return strncmp(path, word, n) == 0 && (path[n] == '\0' || path[n] == '.' || path[n] == '[');
}

/* Is the word what path ends in? */
static bool is_leaf(const char *path, const char *word)
{
	return strcmp(sl_key_leaf(path), word) == 0;
}

/* Prints the options whose paths are meant by the word. */
static int print_options(const struct sl_model *model, const struct sl_option *options, size_t n,
	bool (*is_meant)(const char *path, const char *word), const char *word, FILE *out)
{
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		char path[SL_KEY_BYTES];

		sl_option_path(model, &options[i], path);
		if (is_meant(path, word)) {
			print_option(model, &options[i], out);
			found++;
		}
	}
	return found;
}

static int print_keys(
	bool (*is_meant)(const char *path, const char *word), const char *word, FILE *out)
{
	int found = print_options(NULL, sl_options, sl_n_options, is_meant, word, out);

	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		char path[SL_KEY_BYTES];

		snprintf(path, sizeof(path), "model.%s", sl_models[m]->name);
		found += print_options(sl_models[m], sl_models[m]->options, sl_models[m]->n_options,
			is_meant, strcmp(word, sl_models[m]->name) == 0 ? path : word, out);
	}
	return found;
}

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

static bool is_command(const char *word)
{
#define X(name, operand, help)        \
	if (strcmp(word, #name) == 0) \
		return true;
	SL_COMMANDS(X)
#undef X
	return false;
}

static const char of_compare[] =
	"\n"
	"    A row is a choice of backends: those of the host, then, on the device, all of one\n"
	"    name together and each by itself in the place of what the configuration names, staged,\n"
	"    and every sort once more, fused (run.mode does not matter). Where run.device is auto\n"
	"    and there is no GPU, the device is the emulated one.\n"
	"\n"
	"    Every batch of every row must have the tally, the survivors and the digests of the\n"
	"    first row, the host's cpu, cpu, cpu. If one has not, its batch, column and index are\n"
	"    told, and the exit code is 11. A row that cannot run, for want of memory for one,\n"
	"    does not end the others; the exit code is then its own.\n"
	"\n"
	"    Stages are timed over the first batch alone, again and again; from end to end, all\n"
	"    batches run with as many threads and slots as a run would have, without output and\n"
	"    with. stop.when is left out, so that all rows do the same work. Nothing is kept: files\n"
	"    go to a folder beside the output, its name with .compare behind, and are removed.\n";

static const char of_replay[] =
	"\n"
	"    A particle is a function of (seed, id), so that any one of a run can be followed alone:\n"
	"    on the CPU, wherever the run was computed, and to the same bits. The first line of a\n"
	"    step has its number, its event and the columns as the step has left them; below stand\n"
	"    the random words that it drew, by blocks of four, each with the uniform in (0, 1]\n"
	"    that it stands for.\n"
	"\n"
	"    start      the particle is made\n"
	"    collision  with the medium\n"
	"    surface    it was turned otherwise: reflected or refracted\n"
	"    flight     none of these\n"
	"    any other  is the fate, which was decided in this step\n"
	"\n"
	"    --set takes keys as for run. Those that say where and how to compute do not matter.\n";

static const char of_convert[] =
	"\n"
	"    An IN is a file of any format, or the directory of a run, which stands for the files of\n"
	"    all batches that it has committed. Several are joined, in the order given: either all are\n"
	"    MCPL, whoever wrote them, or none is. The suffix of FILE says what is made: .h5, .npz,\n"
	"    .csv.gz, .mcpl or .mcpl.gz. It is never there already, and has its name once it is whole.\n"
	"\n"
	"    MCPL to MCPL   records, comments and blobs go by as they are, of any number of particles,\n"
	"                   plain or in gzip; headers must agree as for mcpltool --merge, and what\n"
	"                   comments sum up (stat:sum) is added up\n"
	"    others to MCPL position, direction, energy, weight and time must be among the columns; one\n"
	"                   input is in memory at a time\n"
	"    to the others  all have the same columns; the file is made in memory\n"
	"\n"
	"    What could not be kept is told. Files in the folder of their run keep its name, seed and\n"
	"    configuration, and how many particles were generated; with them --set output.mcpl.energy,\n"
	"    .pdg, .precision and .userflags say what MCPL states, as they do for run.\n";

static const char *more_of(const char *command)
{
	if (strcmp(command, "compare") == 0)
		return of_compare;
	if (strcmp(command, "convert") == 0)
		return of_convert;
	return strcmp(command, "replay") == 0 ? of_replay : "";
}

/* What the word may have meant: a command, a model, a column, a fate, or the end of a key; or NULL.
 */
static const char *nearest(const char *word)
{
	const char *words[WORDS_MAX] = {"model"};
	size_t n = 1;

#define X(name, operand, help) words[n++] = #name;
	SL_COMMANDS(X)
#undef X
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		words[n++] = sl_column_facts[c].name;
	for (int f = 0; f < SL_FATE_COUNT; f++)
		words[n++] = sl_fate_facts[f].name;
	for (size_t i = 0; i < sl_n_options && n < WORDS_MAX; i++)
		words[n++] = sl_key_leaf(sl_options[i].key);
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		if (n < WORDS_MAX)
			words[n++] = sl_models[m]->name;
		for (size_t i = 0; i < sl_models[m]->n_options && n < WORDS_MAX; i++)
			words[n++] = sl_key_leaf(sl_models[m]->options[i].key);
	}
	return sl_nearest(sl_key_leaf(word), words, n);
}

enum sl_status sl_help(const char *word, FILE *out)
{
	const char *near;
	int found;

	if (!word) {
		sl_args_help(out);
		return SL_OK;
	}
	if (is_command(word))
		sl_args_help_of(word, more_of(word), out);
	found = print_words(word, out) + print_keys(is_below, word, out);
	if (found == 0 && !is_command(word))
		found = print_keys(is_leaf, word, out);
	if (found > 0 || is_command(word))
		return SL_OK;
	near = nearest(word);
	return sl_fail(SL_USAGE,
		"%s: no command, key, model, column or fate is called that%s%s, see sluice --help "
		"and sluice list",
		word, near ? ", did you mean " : "", near ? near : "");
}
