/*
 * read_values.c - fills struct sl_config: first the default of each option, then the value given.
 *
 * The loop runs over the option tables, not over the text, so that every member gets a value. The
 * default is parsed from its text by the same code as a value that a user gives.
 */
#include "pipeline/config/reader/reader.h"

#include <stdio.h>
#include <string.h>

/* Adds a problem for key. Returns false. */
static bool wrong(struct sl_reader *r, const char *key, const char *why)
{
	return sl_config_add_problem(r, key, "%s", why);
}

/* Reads one item of a value; problems are added for key. */
static bool fill_item(struct sl_reader *r, const struct sl_option *o, const char *key,
	const struct sl_yaml *tree, sl_node node, void *item)
{
	size_t bytes;
	const char *text = sl_yaml_text(tree, node, &bytes);

	if (sl_yaml_kind(tree, node) == SL_MAPPING)
		return wrong(r, key, "is a mapping, but a single value is needed; write one value");
	if (sl_yaml_kind(tree, node) == SL_LIST)
		return wrong(r, key, "is a list, but a single value is needed; write one value");
	if (bytes == 0)
		return wrong(r, key, "has no value; add a value or remove the key");
	if (strlen(text) != bytes)
		return wrong(r, key, "contains a NUL character; remove it");
	return sl_value_parse(o, text, item) || wrong(r, key, sl_last_error());
}

/* Reads a list of texts as one text, "[a, b]". */
static bool fill_nested(struct sl_reader *r, const struct sl_option *o, const char *key,
	const struct sl_yaml *tree, sl_node list, char item[SL_TEXT_BYTES])
{
	char text[2 * SL_TEXT_BYTES + 4] = "[", part[SL_TEXT_BYTES];
	size_t n = sl_yaml_size(tree, list), at = 1;

	for (size_t i = 0; i < n; i++) {
		if (!fill_item(r, o, key, tree, sl_yaml_item(tree, list, i, NULL), part))
			return false;
		at += (size_t)snprintf(text + at, sizeof(text) - at, i ? ", %s" : "%s", part);
		if (at + 2 > SL_TEXT_BYTES)
			return wrong(r, key, "is longer than 1023 bytes; shorten it");
	}
	memset(item, 0, SL_TEXT_BYTES);
	memcpy(item, text, at);
	item[at] = ']';
	return true;
}

/* Checks and stores the number of items of a list; n is SIZE_MAX when the value is no list. */
static bool fill_items(
	struct sl_reader *r, const struct sl_option *o, const char *path, size_t n, uint64_t *value)
{
	if (n == SIZE_MAX)
		return wrong(r, path, "is not a list; write a list of mappings: [{key: value}]");
	if ((double)n < o->lo || (double)n > o->hi)
		return wrong(r, path,
			sl_said("has %zu items, but %g to %g are allowed; %s", n, o->lo, o->hi,
				(double)n < o->lo ? "add an item" : "remove items"));
	*value = n;
	return true;
}

/* Does text open a bracket that it does not close? */
static bool is_open(const char *text)
{
	int open = 0;

	for (; *text; text++)
		open += (*text == '(') - (*text == ')');
	return open > 0;
}

/*
 * Appends the key of a pair without value to the text before it, from which YAML cut it: in
 * {r: hypot(x, y)} YAML reads the comma as a separator. False if it was not cut from it.
 */
static bool append_cut(
	struct sl_named *named, const struct sl_yaml *tree, sl_node key, sl_node node)
{
	char *text = named->n > 0 ? named->at[named->n - 1].text : NULL;
	const char *rest = sl_yaml_text(tree, key, NULL);
	size_t bytes;

	if (!text || !is_open(text) || sl_yaml_kind(tree, node) != SL_SCALAR)
		return false;
	sl_yaml_text(tree, node, &bytes);
	if (bytes > 0 || strlen(text) + strlen(rest) + 3 > SL_TEXT_BYTES)
		return false;
	strcat(strcat(text, ", "), rest);
	return true;
}

/* Reads a mapping of names to texts. */
static bool fill_named(struct sl_reader *r, const struct sl_option *o, const char *path,
	const struct sl_yaml *tree, sl_node mapping, struct sl_named *named)
{
	char key[SL_KEY_BYTES];
	bool right = true;

	if (sl_yaml_kind(tree, mapping) != SL_MAPPING)
		return wrong(r, path, "is not a mapping; write {NAME: EXPRESSION}");
	for (size_t i = 0; i < sl_yaml_size(tree, mapping); i++) {
		sl_node name, node = sl_yaml_item(tree, mapping, i, &name);
		struct sl_named_text *item = &named->at[named->n];

		if (append_cut(named, tree, name, node))
			continue;
		snprintf(key, sizeof(key), "%s.%s", path, sl_yaml_text(tree, name, NULL));
		if (named->n == SL_NAMED_MAX)
			return wrong(
				r, path, "has more than 9 names, which is the limit; remove some");
		if (strlen(sl_yaml_text(tree, name, NULL)) >= SL_NAME_BYTES)
			return wrong(r, key, "has a name of more than 31 bytes; shorten it");
		snprintf(item->name, sizeof(item->name), "%s", sl_yaml_text(tree, name, NULL));
		right &= fill_item(r, o, key, tree, node, item);
		named->n++;
	}
	return right;
}

/* Do particles start from lists? */
static bool has_list(const struct sl_reader *r)
{
	return r->model->source > 0 &&
	       sl_reader_seen(
		       r, sl_said("model.%s.%s.files", r->model->name, r->model->source_key));
}

/* Is path a key of the source that a list can replace: of the section that has the key of the list? */
static bool is_of_source(const struct sl_reader *r, const char *path)
{
	const char *key = r->model->source_key, *end = strrchr(key, '.'), *section;

	if (!end)
		return false;
	section = sl_said("model.%s.%.*s.", r->model->name, (int)(end - key), key);
	return strncmp(path, section, strlen(section)) == 0;
}

/*
 * Is path a key that can be left out here: run.particles and the keys of the source if files
 * provide them, keep if no survivors are written?
 */
static bool is_optional(const struct sl_reader *r, const char *path)
{
	const struct sl_seen *format = sl_reader_seen(r, "output.format");

	if (strcmp(path, "run.particles") == 0)
		return r->model && (r->model->read || has_list(r));
	if (r->model && has_list(r) && is_of_source(r, path))
		return true;
	if (strcmp(path, "keep") != 0)
		return false;
	if (r->model && r->model->resampling)
		return true;
	return format &&
	       strcmp(sl_yaml_text(r->tree[format->key.source], format->value, NULL), "none") == 0;
}

/* The length of the rows of a list of numbers that is written as a matrix; 0 of any other value. */
static size_t row_length(const struct sl_option *o, const struct sl_yaml *tree, sl_node list)
{
	size_t length = 0;

	if (o->kind != SL_KIND_REALS || sl_yaml_kind(tree, list) != SL_LIST)
		return 0;
	for (size_t i = 0; i < sl_yaml_size(tree, list); i++) {
		const sl_node row = sl_yaml_item(tree, list, i, NULL);

		if (sl_yaml_kind(tree, row) != SL_LIST ||
			(i > 0 && sl_yaml_size(tree, row) != length))
			return 0;
		length = sl_yaml_size(tree, row);
	}
	return length;
}

/*
 * Reads the value at node into *value, of the kind of the option. A matrix is read row by row. False
 * after a problem.
 */
static bool fill(struct sl_reader *r, const struct sl_option *o, const char *path,
	const struct sl_yaml *tree, sl_node node, void *value)
{
	char key[SL_KEY_BYTES + 24];
	bool list = sl_yaml_kind(tree, node) == SL_LIST, right = true;
	const size_t length = row_length(o, tree, node), row = length > 0 ? length : 1;
	const char *unit = sl_dimensions[o->dimension].unit;
	size_t n = list ? sl_yaml_size(tree, node) * row : 1;

	if (o->kind == SL_KIND_ITEMS)
		return fill_items(r, o, path, list ? n : SIZE_MAX, (uint64_t *)value);
	if (o->kind == SL_KIND_NAMED)
		return fill_named(r, o, path, tree, node, (struct sl_named *)value);
	if (!sl_value_listed(o) || sl_yaml_kind(tree, node) == SL_MAPPING)
		return fill_item(r, o, path, tree, node, value);
	/* a value that is not a list counts as a list of one item */
	if (n == 0 && ((o->required && !is_optional(r, path)) ||
			      (o->kind == SL_KIND_LINES && strstr(path, ".files"))))
		return wrong(r, path, "is an empty list, but at least one item is needed; add one");
	if (o->kind == SL_KIND_VECTOR && n != 3)
		return wrong(r, path,
			sl_said("is not a list of three numbers (x, y and z); write [0, 0, 1%s%s]",
				unit[0] ? " " : "", unit));
	if (n > SL_LIST_MAX)
		return wrong(r, path, "has more than 32 items, which is the limit; remove items");
	sl_value_resize(o, value, n);
	if (length > 0)
		((struct sl_reals *)value)->rows = (uint32_t)(n / length);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), list ? "%s[%zu]" : "%s", path, i);
		/* no early exit: every wrong item is reported */
		sl_node item = list ? sl_yaml_item(tree, node, i / row, NULL) : node;

		if (length > 0)
			item = sl_yaml_item(tree, item, i % row, NULL);
		if (o->nested && sl_yaml_kind(tree, item) == SL_LIST)
			right &= fill_nested(
				r, o, key, tree, item, (char *)sl_value_item(o, value, i));
		else
			right &= fill_item(r, o, key, tree, item, sl_value_item(o, value, i));
	}
	return right;
}

/*
 * Sets the default of the option, or the value that stands for "not given". A default is one value,
 * or "[a, b]", without quotes: libyaml would take longer than all the rest of reading a
 * configuration.
 */
static enum sl_status fill_default(const struct sl_option *o, void *value)
{
	char text[SL_TEXT_BYTES], *rest = text;
	bool right = true;

	sl_value_clear(o, value);
	snprintf(text, sizeof(text), "%s", o->fallback ? o->fallback : "");
	if (sl_value_listed(o))
		rest += strspn(rest, "[");
	for (size_t i = 0; right && rest && *rest; i++) {
		const char *item = sl_value_listed(o) ? strsep(&rest, ",]") : strsep(&rest, "");

		sl_value_resize(o, value, i + 1);
		right = sl_value_parse(o, item + strspn(item, " "), sl_value_item(o, value, i));
	}
	return right ? SL_OK
	             : sl_fail(SL_INTERNAL, "the default of %s is not a valid value: %s", o->key,
			       o->fallback);
}

/* Does a section above path have a problem? Then a missing key in it is only a consequence. */
static bool in_wrong_section(const struct sl_reader *r, const char *path)
{
	for (size_t i = 0; i < r->n_problems; i++) {
		size_t n = strlen(r->problem[i].key);

		if (n > 0 && strncmp(path, r->problem[i].key, n) == 0 && path[n] == '.')
			return true;
	}
	return false;
}

/* Sets the value of an option, or of a key of one item. */
static enum sl_status fill_option(
	struct sl_reader *r, const struct sl_option *o, const char *path, void *value)
{
	struct sl_seen *seen = sl_reader_seen(r, path);
	union {
		struct sl_texts texts;
		struct sl_lines lines;
		struct sl_named named;
		struct sl_counts counts;
		struct sl_reals reals;
		struct sl_vector vector;
		char text[SL_TEXT_BYTES];
	} given; /* large enough for any kind of value */

	/* the default stays when the given value is wrong, so that later checks have a value */
	SL_TRY(fill_default(o, value));
	if (!seen) {
		if (o->required && !is_optional(r, path) && !in_wrong_section(r, path) &&
			!sl_suggest_covers(r, path))
			sl_config_add_problem(
				r, path, "is missing and has no default; add it: %s", o->help);
		return SL_OK;
	}
	sl_value_clear(o, &given);
	if (!fill(r, o, path, r->tree[seen->key.source], seen->value, &given))
		return SL_OK;
	/* both values were cleared first, so equal values are equal bytes */
	seen->at_default = memcmp(&given, value, sl_value_bytes(o)) == 0;
	memcpy(value, &given, sl_value_bytes(o));
	return SL_OK;
}

/* Sets a key in all n items of its list; path contains "[]" without a number. */
static enum sl_status fill_of_items(
	struct sl_reader *r, const struct sl_option *o, const char *path, uint64_t n, char *first)
{
	int list = (int)strcspn(path, "[");
	char item[SL_KEY_BYTES + 24];

	for (uint64_t i = 0; i < n; i++) {
		snprintf(item, sizeof(item), "%.*s[%d%s", list, path, (int)i, path + list + 1);
		SL_TRY(fill_option(r, o, item, first + i * o->stride));
	}
	return SL_OK;
}

/*
 * The tables are in order, so the length of a list of items is known before the keys of its items
 * are read. Wrong values leave the default, and the caller refuses the run by the problems in r.
 */
enum sl_status sl_reader_read_values(struct sl_reader *r, struct sl_config *c)
{
	const struct sl_option *o;
	char path[SL_KEY_BYTES];
	uint64_t items = 0; /* of the list read last; its keys follow it in the table */

	for (size_t i = 0; (o = sl_option_at(r->model, i, path)); i++) {
		/*
		 * common options are offsets in *c, those of the model in its configuration struct
		 */
		char *value =
			(i < sl_n_options ? (char *)c : (char *)c->model_config.bytes) + o->offset;

		if (sl_option_of_items(o))
			SL_TRY(fill_of_items(r, o, path, items, value));
		else
			SL_TRY(fill_option(r, o, path, value));
		if (o->kind == SL_KIND_ITEMS)
			memcpy(&items, value, sizeof(items));
	}
	c->model = r->model;
	if (!r->model && !sl_config_has_problem(r, "model"))
		sl_config_add_problem(r, "model", "is missing: a run needs a model; use %s",
			sl_suggest_model(""));
	return SL_OK;
}
