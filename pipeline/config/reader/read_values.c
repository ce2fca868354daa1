/* read_values.c - reading values, each from the source that gave it last. */
#include "pipeline/config/reader/read_values.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/config/reader/suggest.h"
#include "pipeline/config/values.h"

/* Complains about key; r is NULL while a default is read. Returns false. */
static bool wrong(struct sl_reader *r, const char *key, const char *why)
{
	if (r)
		sl_config_complain(r, key, "%s", why);
	return false;
}

/* One item of a value; complaints are for key. */
static bool fill_item(struct sl_reader *r, const struct sl_option *o, const char *key,
	const struct sl_yaml *tree, sl_node node, void *item)
{
	char why[SL_WHY_BYTES];
	size_t bytes;
	const char *text = sl_yaml_text(tree, node, &bytes);

	if (sl_yaml_kind(tree, node) == SL_MAPPING)
		return wrong(
			r, key, "has keys below it (it is no section), try a value without keys");
	if (sl_yaml_kind(tree, node) == SL_LIST)
		return wrong(r, key, "is a list (one value is needed), try one of them");
	if (bytes == 0)
		return wrong(r, key,
			"has no value (nothing stands there), try removing it or giving it one");
	if (strlen(text) != bytes)
		return wrong(r, key, "has a NUL in it (no text has), try removing it");
	return sl_value_parse(o, text, item, why) || wrong(r, key, why);
}

/* How many items a list has; n is SIZE_MAX when it is none. */
static bool fill_items(
	struct sl_reader *r, const struct sl_option *o, const char *path, size_t n, uint64_t *value)
{
	char why[SL_WHY_BYTES];

	if (n == SIZE_MAX)
		return wrong(r, path,
			"is no list (its items have keys of their own), try [{key: value}]");
	if ((double)n < o->lo || (double)n > o->hi) {
		snprintf(why, sizeof(why), "has %zu items (%g to %g are read), try %s", n, o->lo,
			o->hi, (double)n < o->lo ? "adding one" : "fewer");
		return wrong(r, path, why);
	}
	*value = n;
	return true;
}

/* The value at node, as the option's kind has it. */
static bool fill(struct sl_reader *r, const struct sl_option *o, const char *path,
	const struct sl_yaml *tree, sl_node node, void *value)
{
	char key[SL_KEY_BYTES + 24];
	bool list = sl_yaml_kind(tree, node) == SL_LIST, right = true;
	size_t n = list ? sl_yaml_size(tree, node) : 1;

	if (o->kind == SL_KIND_ITEMS)
		return fill_items(r, o, path, list ? n : SIZE_MAX, (uint64_t *)value);
	if (!sl_value_listed(o) || sl_yaml_kind(tree, node) == SL_MAPPING)
		return fill_item(r, o, path, tree, node, value);
	if (n == 0 && o->required)
		return wrong(r, path, "is an empty list (at least one is needed), try [one]");
	if (o->kind == SL_KIND_VECTOR && n != 3)
		return wrong(r, path, "is no list of three (x, y and z are needed), try [0, 0, 1]");
	if (n > SL_LIST_MAX)
		return wrong(r, path, "is a long list (at most 32 are read), try fewer");
	sl_value_resize(o, value, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), list ? "%s[%zu]" : "%s", path, i);
		right &= fill_item(r, o, key, tree, list ? sl_yaml_item(tree, node, i, NULL) : node,
			sl_value_item(o, value, i));
	}
	return right;
}

/* The option's default, or what absent reads as. */
static enum sl_status fill_default(const struct sl_option *o, void *value)
{
	struct sl_problem problem;
	struct sl_yaml *tree;
	enum sl_status s;

	sl_value_clear(o, value);
	if (!o->fallback)
		return SL_OK;
	s = sl_yaml_parse(o->fallback, strlen(o->fallback), &tree, &problem);
	if (s == SL_OK && !fill(NULL, o, o->key, tree, sl_yaml_root(tree), value))
		s = sl_fail(SL_INTERNAL, "the default of %s is none: %s", o->key, o->fallback);
	sl_yaml_free(tree);
	return s;
}

/* Is a section above path wrong in itself? What it lacks follows from that. */
static bool in_flawed_section(const struct sl_reader *r, const char *path)
{
	for (size_t i = 0; i < r->n_flaws; i++) {
		size_t n = strlen(r->flaw[i].key);

		if (n > 0 && strncmp(path, r->flaw[i].key, n) == 0 && path[n] == '.')
			return true;
	}
	return false;
}

/* Is it how many particles there are, which files tell, too? */
static bool is_read(const struct sl_reader *r, const char *path)
{
	return r->model && r->model->read && strcmp(path, "run.particles") == 0;
}

/* Fills one value of an option. */
static enum sl_status fill_option(
	struct sl_reader *r, const struct sl_option *o, const char *path, void *value)
{
	struct sl_seen *seen = sl_reader_seen(r, path);
	union {
		struct sl_texts texts;
		struct sl_lines lines;
		struct sl_counts counts;
		struct sl_reals reals;
		struct sl_vector vector;
		char text[SL_TEXT_BYTES];
	} given; /* room for any kind of value */

	SL_TRY(fill_default(o, value));
	if (!seen) {
		if (o->required && !is_read(r, path) && !in_flawed_section(r, path) &&
			!sl_hint_is_told(r, path))
			sl_config_complain(r, path,
				"is missing (it has no default), try adding it: %s", o->help);
		return SL_OK;
	}
	sl_value_clear(o, &given);
	if (!fill(r, o, path, r->tree[seen->key.source], seen->value, &given))
		return SL_OK;
	seen->at_default = memcmp(&given, value, sl_value_bytes(o)) == 0;
	memcpy(value, &given, sl_value_bytes(o));
	return SL_OK;
}

/* Fills a key of all n items of its list; path has no numbers yet. */
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

enum sl_status sl_reader_fill(struct sl_reader *r, struct sl_config *c)
{
	const struct sl_option *o;
	char path[SL_KEY_BYTES];
	uint64_t items = 0; /* of the list that was filled last */

	for (size_t i = 0; (o = sl_option_at(r->model, i, path)); i++) {
		char *value =
			(i < sl_n_options ? (char *)c : (char *)c->of_model.bytes) + o->offset;

		if (sl_option_of_items(o))
			SL_TRY(fill_of_items(r, o, path, items, value));
		else
			SL_TRY(fill_option(r, o, path, value));
		if (o->kind == SL_KIND_ITEMS)
			memcpy(&items, value, sizeof(items));
	}
	for (c->model = 0; c->model < SL_MODEL_COUNT && sl_models[c->model] != r->model;)
		c->model++;
	if (!r->model && !sl_config_flawed(r, "model")) {
		char names[256];

		sl_config_complain(r, "model", "is missing (a run needs one), try %s",
			sl_hint_model("", names, sizeof(names)));
	}
	return SL_OK;
}
