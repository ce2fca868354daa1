/*
 * walk.c - walking a source against the tables: what is known is noted with its place, what is not
 * is a problem.
 */
#include "pipeline/config/reader/match_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/config/reader/suggest.h"
#include "pipeline/text/messages.h"

/* Is the item that path names, or is below, in the list that was met? True of a path without. */
static bool has_item(const struct sl_reader *r, const char *path)
{
	const char *bracket = strchr(path, '[');
	char above[SL_KEY_BYTES], number[32];
	const struct sl_seen *list;
	unsigned long long i;
	size_t n;

	if (!bracket)
		return true;
	i = strtoull(bracket + 1, NULL, 10);
	n = (size_t)snprintf(number, sizeof(number), "[%llu]", i); /* as it is written elsewhere */
	snprintf(above, sizeof(above), "%.*s", (int)(bracket - path), path);
	list = sl_reader_seen(r, above);
	return list && strncmp(bracket, number, n) == 0 &&
	       i < sl_yaml_size(r->tree[list->key.source], list->value);
}

static const struct sl_option *option_at(const struct sl_reader *r, const char *path)
{
	const struct sl_model *model;
	const struct sl_option *o = sl_option_find(path, &model);

	return (!model || model == r->model) && has_item(r, path) ? o : NULL;
}

/* Does path stand above options? */
static bool is_section(const struct sl_reader *r, const char *path)
{
	char option[SL_KEY_BYTES], of_model[SL_KEY_BYTES], pattern[SL_KEY_BYTES];

	snprintf(of_model, sizeof(of_model), "model.%s", r->model ? r->model->name : "");
	if (strcmp(path, "model") == 0 || strcmp(path, of_model) == 0)
		return true;
	sl_key_pattern(path, pattern);
	for (size_t i = 0; sl_option_at(r->model, i, option); i++)
		if (sl_key_below(option, pattern) && strcmp(option, pattern) != 0)
			return has_item(r, path);
	return false;
}

/* Is path that of a model: model.NAME? */
static bool is_model(const char *path)
{
	const char *leaf = sl_key_leaf(path);

	return leaf - path == 6 && strncmp(path, "model.", 6) == 0;
}

static void unknown(struct sl_reader *r, struct sl_place at, const char *path)
{
	char text[SL_FLAW_BYTES];

	sl_hint_unknown(r, path, text);
	sl_reader_add(r, at, path, text);
}

static void note(struct sl_reader *r, struct sl_place at, const char *path, sl_node value)
{
	struct sl_seen *seen = sl_reader_seen(r, path);

	if (!seen && r->n_seen < SL_SEEN_MAX)
		seen = &r->seen[r->n_seen++];
	if (!seen)
		return;
	memset(seen, 0, sizeof(*seen));
	snprintf(seen->path, sizeof(seen->path), "%s", path);
	seen->key = at;
	seen->value = value;
}

/* path is model.NAME: takes it for the model of the run, or complains. */
static bool choose_model(struct sl_reader *r, struct sl_place at, const char *path)
{
	const struct sl_model *model = sl_model_find(sl_key_leaf(path));
	char text[SL_FLAW_BYTES], names[256];

	if (model && (!r->model || r->model == model)) {
		r->model = model;
		return true;
	}
	if (model) {
		snprintf(text, sizeof(text),
			"a run has one model (%s is chosen already), try removing one of them",
			r->model->name);
	} else {
		snprintf(text, sizeof(text), "there is no such model, try %s",
			sl_hint_model(sl_key_leaf(path), names, sizeof(names)));
	}
	sl_reader_add(r, at, path, text);
	return false;
}

/* The option that a plain value of the section at path stands for; false when there is none. */
static bool find_foremost(const struct sl_reader *r, const char *path, char option[SL_KEY_BYTES])
{
	const struct sl_option *o;

	for (size_t i = 0; (o = sl_option_at(r->model, i, option)); i++)
		if (o->foremost && sl_key_below(option, path))
			return true;
	return false;
}

static void walk(struct sl_reader *r, size_t source, sl_node mapping, const char *above);

/* The section at path, whose value is node. */
static void meet_section(struct sl_reader *r, struct sl_place at, const char *path, sl_node node)
{
	const struct sl_yaml *tree = r->tree[at.source];
	char text[SL_FLAW_BYTES], shown[SL_SHOWN_BYTES], option[SL_KEY_BYTES];

	note(r, at, path, node);
	if (sl_yaml_kind(tree, node) == SL_MAPPING) {
		walk(r, at.source, node, path);
		return;
	}
	if (*sl_yaml_text(tree, node, NULL) && find_foremost(r, path, option)) {
		note(r, at, option, node);
		return;
	}
	if (sl_yaml_kind(tree, node) == SL_LIST)
		snprintf(text, sizeof(text), "has a list (keys stand below it), try {key: value}");
	else if (*sl_yaml_text(tree, node, NULL) == '\0')
		snprintf(text, sizeof(text),
			"has nothing below it (it is a section), try removing it or giving it {}");
	else
		snprintf(text, sizeof(text),
			"has the value %s (keys stand below it), try {key: value}",
			sl_show(shown, sl_yaml_text(tree, node, NULL)));
	if (strcmp(path, "model") == 0 && sl_model_find(sl_yaml_text(tree, node, NULL)))
		snprintf(text, sizeof(text),
			"has the value '%s' (the parameters stand below the model's name), try "
			"{%s: {}}",
			sl_yaml_text(tree, node, NULL), sl_yaml_text(tree, node, NULL));
	sl_reader_add(r, at, path, text);
}

/* The items of a list, each with keys of its own; more than most are a problem told later. */
static void meet_items(
	struct sl_reader *r, size_t source, const char *path, sl_node list, double most)
{
	const struct sl_yaml *tree = r->tree[source];

	for (size_t i = 0; i < sl_yaml_size(tree, list) && (double)i < most; i++) {
		sl_node node = sl_yaml_item(tree, list, i, NULL);
		struct sl_place at = {source, 0, 0};
		char item[SL_KEY_BYTES + 24];

		sl_yaml_place(tree, node, &at.line, &at.column);
		snprintf(item, sizeof(item), "%s[%zu]", path, i);
		meet_section(r, at, item, node);
	}
}

/* A key with its full path and its value. */
static void meet(struct sl_reader *r, struct sl_place at, const char *path, sl_node node)
{
	const struct sl_option *o;

	if (is_model(path) && !choose_model(r, at, path))
		return;
	o = option_at(r, path);
	if (o)
		note(r, at, path, node);
	if (o && o->kind == SL_KIND_ITEMS && sl_yaml_kind(r->tree[at.source], node) == SL_LIST)
		meet_items(r, at.source, path, node, o->hi);
	if (o)
		return;
	if (is_section(r, path))
		meet_section(r, at, path, node);
	else
		unknown(r, at, path);
}

/* The keys of a mapping, all below the path above. */
static void walk(struct sl_reader *r, size_t source, sl_node mapping, const char *above)
{
	const struct sl_yaml *tree = r->tree[source];
	size_t n = sl_yaml_size(tree, mapping);

	for (size_t i = 0; i < n; i++) {
		struct sl_place at = {source, 0, 0};
		char path[SL_KEY_BYTES];
		sl_node key, value = sl_yaml_item(tree, mapping, i, &key);
		const char *text = sl_yaml_text(tree, key, NULL);

		sl_yaml_place(tree, key, &at.line, &at.column);
		snprintf(path, sizeof(path), "%s%s%s", above, *above ? "." : "", text);
		if (strchr(text, '.'))
			sl_reader_add(r, at, path,
				"there is no such key (dots are for --set), try one key below the "
				"other");
		else if (strchr(text, '['))
			sl_reader_add(r, at, path,
				"there is no such key (brackets are for --set), try a list");
		else
			meet(r, at, path, value);
	}
}

/* Enters the sections above path, which a --set names in one word. */
static bool enter(struct sl_reader *r, struct sl_place at, const char *path)
{
	char above[SL_KEY_BYTES];

	for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
		snprintf(above, sizeof(above), "%.*s", (int)(dot - path), path);
		if (is_model(above) && !choose_model(r, at, above))
			return false;
		if (!has_item(r, above)) {
			sl_reader_add(r, at, above,
				"there is no such item (items are counted from 0), try one of those "
				"that the list has");
			return false;
		}
		if (!is_section(r, above)) {
			unknown(r, at, option_at(r, above) ? path : above);
			return false;
		}
		if (!sl_reader_seen(r, above))
			note(r, at, above, 0);
	}
	return true;
}

void sl_reader_match_keys(struct sl_reader *r, sl_node root)
{
	walk(r, 0, root, "");
}

void sl_reader_match_keys_set(struct sl_reader *r, size_t source, const char *path)
{
	const struct sl_place at = {source, 0, 0};

	sl_reader_forget(r, path);
	if (strcmp(path, "model") == 0)
		r->model = NULL;
	if (enter(r, at, path))
		meet(r, at, path, sl_yaml_root(r->tree[source]));
}
