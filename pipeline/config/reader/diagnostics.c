/*
 * diagnostics.c - places, problems and the report.
 *
 * The place of a problem is that of the value of its key, of the key if the value is a section, or
 * of the nearest section that was given. The report sorts problems by source, line and column.
 */
#include "pipeline/config/reader/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sl_key_below(const char *path, const char *key)
{
	size_t n = strlen(key);

	return strncmp(path, key, n) == 0 && (path[n] == '\0' || path[n] == '.' || path[n] == '[');
}

/* A linear search: a configuration has some tens of keys, and it is read once. */
struct sl_seen *sl_reader_seen(const struct sl_reader *r, const char *path)
{
	size_t bytes = strlen(path);

	for (size_t i = 0; i < r->n_seen; i++)
		if (r->seen[i].bytes == bytes && memcmp(r->seen[i].path, path, bytes) == 0)
			return (struct sl_seen *)&r->seen[i];
	return NULL;
}

void sl_reader_add(
	struct sl_reader *r, struct sl_place at, const char *key, const char *format, ...)
{
	struct sl_config_problem *f = &r->problem[r->n_problems];
	va_list args;

	/* problems without key, such as syntax errors, are all kept */
	for (size_t i = 0; i < r->n_problems; i++)
		if (*key && strcmp(r->problem[i].key, key) == 0)
			return;
	if (r->n_problems == SL_PROBLEMS_MAX) {
		r->n_dropped++;
		return;
	}
	f->place = at;
	f->number = r->n_problems++;
	snprintf(f->key, sizeof(f->key), "%s", key);
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

/*
 * Keeps the order of both lists. Problems go too: a wrong value in the file is no problem if --set
 * replaces it.
 */
void sl_reader_forget(struct sl_reader *r, const char *key)
{
	size_t seen = 0, kept = 0;

	for (size_t i = 0; i < r->n_seen; i++)
		if (!sl_key_below(r->seen[i].path, key))
			r->seen[seen++] = r->seen[i];
	for (size_t i = 0; i < r->n_problems; i++)
		if (!sl_key_below(r->problem[i].key, key))
			r->problem[kept++] = r->problem[i];
	r->n_seen = seen;
	r->n_problems = kept;
}

/* --- places ----------------------------------------------------------------------------------- */

struct sl_place sl_reader_place(const struct sl_reader *r, size_t source, sl_node node)
{
	struct sl_place at = {.source = source};

	if (r->tree[source])
		sl_yaml_place(r->tree[source], node, &at.line, &at.column);
	return at;
}

/* Splits "keep[2]" into the list and the item number, which is returned; -1 without an item. */
static long split_item(const char *key, char list[SL_KEY_BYTES])
{
	const char *bracket = *key && key[strlen(key) - 1] == ']' ? strrchr(key, '[') : NULL;

	snprintf(
		list, SL_KEY_BYTES, "%.*s", (int)(bracket ? bracket - key : SL_KEY_BYTES - 1), key);
	return bracket ? strtol(bracket + 1, NULL, 10) : -1;
}

/* The node of a value, or of its item if it is a list. */
static sl_node value_node(const struct sl_reader *r, const struct sl_seen *seen, long item)
{
	const struct sl_yaml *tree = r->tree[seen->key.source];
	sl_node node = seen->value, found = 0;

	if (item >= 0 && sl_yaml_kind(tree, node) == SL_LIST)
		found = sl_yaml_item(tree, node, (size_t)item, NULL);
	return found ? found : node;
}

/* The place of the value or item; of the key, if the value is a section or empty. */
static struct sl_place place_of_value(
	const struct sl_reader *r, const struct sl_seen *seen, long item)
{
	const struct sl_yaml *tree = r->tree[seen->key.source];
	sl_node node = seen->value;

	/* a section is long, so its key is the better place */
	if (node == 0 || sl_yaml_kind(tree, node) == SL_MAPPING)
		return seen->key;
	node = value_node(r, seen, item);
	if (sl_yaml_kind(tree, node) == SL_SCALAR && *sl_yaml_text(tree, node, NULL) == '\0' &&
		item < 0)
		return seen->key;
	return sl_reader_place(r, seen->key.source, node);
}

/* The place for a problem of key: removes components of the path until one was given. */
static struct sl_place place_of(const struct sl_reader *r, const char *key)
{
	char path[SL_KEY_BYTES];
	long item = split_item(key, path);
	char *dot;

	/* "model.slab.mu_a", then "model.slab", then "model", then the whole file */
	for (;;) {
		const struct sl_seen *seen = sl_reader_seen(r, path);

		if (seen)
			return place_of_value(r, seen, item);
		dot = strrchr(path, '.');
		if (!dot)
			break;
		*dot = '\0';
		item = -1;
	}
	return sl_reader_place(r, 0, SL_YAML_ROOT);
}

/* The name of key in messages: "keep" instead of "keep[0]" when one word was given for the list. */
static const char *name_of(const struct sl_reader *r, const char *key, char list[SL_KEY_BYTES])
{
	const struct sl_seen *seen;

	if (split_item(key, list) < 0)
		return key;
	seen = sl_reader_seen(r, list);
	return seen && sl_yaml_kind(r->tree[seen->key.source], seen->value) == SL_SCALAR ? list
	                                                                                 : key;
}

/* --- problems --------------------------------------------------------------------------------- */

/* Was the option given with a value other than its default? */
static bool is_changed(const struct sl_reader *r, const char *key)
{
	const struct sl_seen *seen = sl_reader_seen(r, key);

	return seen && !seen->at_default;
}

bool sl_config_has_problem(const struct sl_reader *r, const char *key)
{
	for (size_t i = 0; i < r->n_problems; i++)
		if (sl_key_below(r->problem[i].key, key))
			return true;
	return false;
}

/* Adds a problem for key with a formatted text. */
SL_PRINTF(3, 0)
static void add_formatted(struct sl_reader *r, const char *key, const char *format, va_list args)
{
	char text[SL_PROBLEM_BYTES], list[SL_KEY_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	sl_reader_add(r, place_of(r, key), name_of(r, key, list), "%s", text);
}

bool sl_config_add_problem(struct sl_reader *r, const char *key, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_formatted(r, key, format, args);
	va_end(args);
	return false;
}

void sl_config_refuse_unused(
	struct sl_reader *r, const char *key, const char *why, const char *advice)
{
	if (is_changed(r, key) && !sl_config_has_problem(r, key))
		sl_config_add_problem(r, key, "has no effect: %s; %s", why, advice);
}

/* Moves the column to the byte of the value at which a parser stopped. */
void sl_config_add_problem_within(
	struct sl_reader *r, const char *key, size_t offset, const char *text)
{
	struct sl_place at = place_of(r, key);
	char list[SL_KEY_BYTES];
	long item = split_item(key, list);
	const struct sl_seen *seen = sl_reader_seen(r, list);

	if (seen && at.line > 0)
		at.column += sl_yaml_inside(
			r->tree[seen->key.source], value_node(r, seen, item), offset);
	sl_reader_add(r, at, name_of(r, key, list), "%s", text);
}

size_t sl_config_problems(const struct sl_reader *r)
{
	return r->n_problems + r->n_dropped;
}

/*
 * Orders problems by source, line and column; at one place by the order in which they were
 * found.
 */
static int by_place(const void *a, const void *b)
{
	const struct sl_config_problem *x = (const struct sl_config_problem *)a,
				       *y = (const struct sl_config_problem *)b;
	size_t left[] = {x->place.source, x->place.line, x->place.column, x->number};
	size_t right[] = {y->place.source, y->place.line, y->place.column, y->number};

	for (int i = 0; i < 4; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* Appends a problem to the report as the line "place: key: text", printable. */
static void print_problem(struct sl_reader *r, const struct sl_config_problem *f)
{
	const struct sl_place *at = &f->place;
	char line[SL_PATH_BYTES + SL_KEY_BYTES + SL_PROBLEM_BYTES] = "";
	size_t used = strlen(r->report);

	if (at->source > 0)
		sl_append(line, sizeof(line), "%s", sl_set_typed(r->sets[at->source - 1]));
	else
		sl_append(line, sizeof(line), "%s", r->name);
	if (at->source == 0 && at->line > 0)
		sl_append(line, sizeof(line), ":%zu:%zu", at->line, at->column);
	sl_append(line, sizeof(line), "%s%s: %s", *f->key ? ": " : "", f->key, f->text);
	sl_printable(r->report + used, SL_REPORT_BYTES - used, line);
	sl_append(r->report, SL_REPORT_BYTES, "\n");
}

const char *sl_config_report(struct sl_reader *r)
{
	qsort(r->problem, r->n_problems, sizeof(r->problem[0]), by_place);
	r->report[0] = '\0';
	for (size_t i = 0; i < r->n_problems; i++)
		print_problem(r, &r->problem[i]);
	if (r->n_dropped > 0)
		sl_append(r->report, SL_REPORT_BYTES, "%s: and %zu more problems\n", r->name,
			r->n_dropped);
	return r->report;
}

enum sl_status sl_config_verdict(struct sl_reader *r)
{
	if (sl_config_problems(r) == 0)
		return SL_OK;
	(void)sl_config_report(r);
	r->report[strlen(r->report) - 1] = '\0'; /* the last newline */
	sl_set_last_error(r->report);            /* not sl_fail(), which makes newlines printable */
	return SL_USAGE;
}

/* --- the interface for models ----------------------------------------------------------------- */

/* Implements sl_check.given for the model. */
static bool model_given(void *ctx, const char *key)
{
	const struct sl_reader *r = (const struct sl_reader *)ctx;

	return is_changed(r, sl_said("model.%s.%s", r->model->name, key));
}

/* Implements sl_check.complain for the model. */
SL_PRINTF(3, 4)
static void model_complain(void *ctx, const char *key, const char *format, ...)
{
	struct sl_reader *r = (struct sl_reader *)ctx;
	va_list args;

	va_start(args, format);
	add_formatted(r, sl_said("model.%s.%s", r->model->name, key), format, args);
	va_end(args);
}

struct sl_model_check sl_config_check(struct sl_reader *r)
{
	return (struct sl_model_check){
		.ctx = r, .is_given = model_given, .complain = model_complain};
}
