/*
 * match_keys.c - walks the YAML tree of a source and looks up each key in the option tables.
 *
 * A path is built on the way down. It is an option, a section above options, or unknown. Options
 * and sections are recorded with the place of the key; a --set first creates the sections above its
 * key.
 */
#include "pipeline/config/reader/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/models/models.h"

/*
 * Does the list item in path ("objects[3].surface") exist in the list read before? True for a path
 * without an item. The comparison with the printed number refuses "[03]" and "[3]x".
 */
static bool has_item(const struct sl_reader *r, const char *path)
{
	const char *bracket = strchr(path, '['), *number;
	const struct sl_seen *list;
	uint64_t i;

	if (!bracket)
		return true;
	i = strtoull(bracket + 1, NULL, 10);
	number = sl_said("[%lu]", i);
	list = sl_reader_seen(r, sl_said("%.*s", (int)(bracket - path), path));
	return list && strncmp(bracket, number, strlen(number)) == 0 &&
	       i < sl_yaml_size(r->tree[list->key.source], list->value);
}

/* The option at path, if it belongs to the chosen model and its list item exists; else NULL. */
static const struct sl_option *option_at(const struct sl_reader *r, const char *path)
{
	const struct sl_model *model;
	const struct sl_option *o = sl_option_find(path, &model);

	return (!model || model == r->model) && has_item(r, path) ? o : NULL;
}

/* Is path a section, that is, the prefix of an option? */
static bool is_section(const struct sl_reader *r, const char *path)
{
	char option[SL_KEY_BYTES], pattern[SL_KEY_BYTES];

	if (strcmp(path, "model") == 0 ||
		strcmp(path, sl_said("model.%s", r->model ? r->model->name : "")) == 0)
		return true;
	sl_key_pattern(path, pattern);
	for (size_t i = 0; sl_option_at(r->model, i, option); i++)
		if (sl_key_below(option, pattern) && strcmp(option, pattern) != 0)
			return has_item(r, path);
	return false;
}

/* Has path the form model.NAME? */
static bool is_model(const char *path)
{
	const char *leaf = sl_key_leaf(path);

	return leaf - path == 6 && strncmp(path, "model.", 6) == 0;
}

/*
 * Adds the problem that path is not a known key, with a suggestion. The search for one costs much
 * more than the rest, and a problem that is only counted does not show it.
 */
static void add_unknown(struct sl_reader *r, struct sl_place at, const char *path)
{
	sl_reader_add(
		r, at, path, "%s", r->n_problems < SL_PROBLEMS_MAX ? sl_suggest_key(r, path) : "");
}

/* Records a key; a later source replaces the record. */
static void record(struct sl_reader *r, struct sl_place at, const char *path, sl_node value)
{
	struct sl_seen *seen = sl_reader_seen(r, path);

	/*
	 * the bound is never reached: the tables have fewer keys, see
	 * tests/pipeline/config/options.c
	 */
	if (!seen && r->n_seen < SL_SEEN_MAX)
		seen = &r->seen[r->n_seen++];
	if (!seen)
		return;
	memset(seen, 0, sizeof(*seen));
	snprintf(seen->path, sizeof(seen->path), "%s", path);
	seen->bytes = strlen(seen->path);
	seen->key = at;
	seen->value = value;
}

/* path is model.NAME: makes it the model of the run, or adds a problem. */
static bool choose_model(struct sl_reader *r, struct sl_place at, const char *path)
{
	const struct sl_model *model = sl_model_find(sl_key_leaf(path));

	if (model && (!r->model || r->model == model)) {
		r->model = model;
		return true;
	}
	if (model)
		sl_reader_add(r, at, path,
			"a run has one model, and %s is given already; remove one of them",
			r->model->name);
	else
		sl_reader_add(
			r, at, path, "unknown model; use %s", sl_suggest_model(sl_key_leaf(path)));
	return false;
}

/* Finds the option that a plain value of the section at path sets (stop: RULE sets stop.when). */
static bool find_shorthand(const struct sl_reader *r, const char *path, char option[SL_KEY_BYTES])
{
	const struct sl_option *o;

	for (size_t i = 0; (o = sl_option_at(r->model, i, option)); i++)
		if (o->shorthand && sl_key_below(option, path))
			return true;
	return false;
}

/* Matches the section at path, whose value is node. */
static void match_section(struct sl_reader *r, struct sl_place at, const char *path, sl_node node)
{
	const struct sl_yaml *tree = r->tree[at.source];
	const char *text = sl_yaml_text(tree, node, NULL);
	char option[SL_KEY_BYTES];

	record(r, at, path, node);
	if (sl_yaml_kind(tree, node) == SL_MAPPING)
		sl_reader_match_keys(r, at.source, node, path);
	else if (*text && find_shorthand(r, path, option))
		record(r, at, option, node);
	else if (strcmp(path, "model") == 0 && sl_model_find(text))
		sl_reader_add(r, at, path,
			"has the value '%s', but a model is a section with its parameters; write {%s: {}}",
			text, text);
	else if (sl_yaml_kind(tree, node) == SL_LIST)
		sl_reader_add(r, at, path,
			"is a list, but this is a section with keys; write {key: value}");
	else if (*text == '\0')
		sl_reader_add(r, at, path, "is a section without keys; remove it or write {}");
	else
		sl_reader_add(r, at, path,
			"has the value %s, but this is a section with keys; write {key: value}",
			sl_shown(text));
}

/*
 * Matches the items of a list, each a section. Items after most are skipped: read_values.c reports
 * that the list is too long.
 */
static void match_items(
	struct sl_reader *r, size_t source, const char *path, sl_node list, double most)
{
	const struct sl_yaml *tree = r->tree[source];

	for (size_t i = 0; i < sl_yaml_size(tree, list) && (double)i < most; i++) {
		sl_node node = sl_yaml_item(tree, list, i, NULL);
		char item[SL_KEY_BYTES + 24];

		snprintf(item, sizeof(item), "%s[%zu]", path, i);
		match_section(r, sl_reader_place(r, source, node), item, node);
	}
}

/* Records the names of a mapping whose values are texts, for the places of problems. */
static void record_names(struct sl_reader *r, size_t source, const char *path, sl_node mapping)
{
	const struct sl_yaml *tree = r->tree[source];
	bool named = sl_yaml_kind(tree, mapping) == SL_MAPPING;

	for (size_t i = 0; named && i < sl_yaml_size(tree, mapping) && i < SL_NAMED_MAX; i++) {
		sl_node key, value = sl_yaml_item(tree, mapping, i, &key);

		record(r, sl_reader_place(r, source, key),
			sl_said("%s.%s", path, sl_yaml_text(tree, key, NULL)), value);
	}
}

/* Matches one key, given by its full path, with its value. */
static void match_key(struct sl_reader *r, struct sl_place at, const char *path, sl_node node)
{
	const struct sl_option *o;

	/*
	 * the keys of a second model are not matched: each would be a consequence of that problem
	 */
	if (is_model(path) && !choose_model(r, at, path))
		return;
	o = option_at(r, path);
	if (o)
		record(r, at, path, node);
	if (o && o->kind == SL_KIND_NAMED)
		record_names(r, at.source, path, node);
	if (o && o->kind == SL_KIND_ITEMS && sl_yaml_kind(r->tree[at.source], node) == SL_LIST)
		match_items(r, at.source, path, node, o->hi);
	if (o)
		return;
	if (is_section(r, path))
		match_section(r, at, path, node);
	else
		add_unknown(r, at, path);
}

void sl_reader_match_keys(struct sl_reader *r, size_t source, sl_node mapping, const char *above)
{
	const struct sl_yaml *tree = r->tree[source];
	size_t n = sl_yaml_size(tree, mapping);

	for (size_t i = 0; i < n; i++) {
		char path[SL_KEY_BYTES];
		sl_node key, value = sl_yaml_item(tree, mapping, i, &key);
		const char *text = sl_yaml_text(tree, key, NULL);
		const struct sl_place at = sl_reader_place(r, source, key);

		snprintf(path, sizeof(path), "%s%s%s", above, *above ? "." : "", text);
		if (strchr(text, '.'))
			sl_reader_add(r, at, path,
				"unknown key: dots are allowed in --set only; nest the keys");
		else if (strchr(text, '['))
			sl_reader_add(r, at, path,
				"unknown key: brackets are allowed in --set only; write a list");
		else
			match_key(r, at, path, value);
	}
}

/* Records the sections above the path of a --set; false after a problem. */
static bool record_sections(struct sl_reader *r, struct sl_place at, const char *path)
{
	char above[SL_KEY_BYTES];

	for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
		snprintf(above, sizeof(above), "%.*s", (int)(dot - path), path);
		if (is_model(above) && !choose_model(r, at, above))
			return false;
		if (!has_item(r, above)) {
			sl_reader_add(r, at, above,
				"unknown item: the list has no item with this index (the first is 0); use the "
				"index of an item");
			return false;
		}
		if (!is_section(r, above)) {
			add_unknown(r, at, option_at(r, above) ? path : above);
			return false;
		}
		if (!sl_reader_seen(r, above))
			record(r, at, above, 0);
	}
	return true;
}

void sl_reader_match_set(struct sl_reader *r, size_t source, const char *path)
{
	const struct sl_place at = {source, 0, 0};

	/* a --set replaces everything at its key, problems included */
	sl_reader_forget(r, path);
	if (strcmp(path, "model") == 0)
		r->model = NULL;
	if (record_sections(r, at, path))
		match_key(r, at, path, SL_YAML_ROOT);
}
