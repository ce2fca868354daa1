/*
 * config.c - reading a configuration: first where everything stands, then what it says.
 *
 * Each source (the file, then each --set) is walked against the tables; what is known is noted with
 * its place, what is not is a problem. Only then values are read, each from the source that
 * gave it last.
 */
#include "pipeline/config.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/reader.h"
#include "pipeline/values.h"
#include "pipeline/words.h"
#include "primitives/base/device.h"

enum { WORDS_MAX = 256, HINT_BYTES = 448 };

/* --- the known keys --------------------------------------------------------------------------- */

/* The i-th option of a run of that model (NULL: none yet), and its path; NULL past the last. */
static const struct sl_option *option_at(
	const struct sl_model *model, size_t i, char path[SL_KEY_BYTES])
{
	bool common = i < sl_n_options;
	const struct sl_option *o = NULL;

	if (common)
		o = &sl_options[i];
	else if (model && i - sl_n_options < model->n_options)
		o = &model->options[i - sl_n_options];
	if (o)
		sl_option_path(common ? NULL : model, o, path);
	return o;
}

static bool is_option(const struct sl_reader *r, const char *path)
{
	const struct sl_model *model;

	return sl_option_find(path, &model) && (!model || model == r->model);
}

/* Does path stand above options? */
static bool is_section(const struct sl_reader *r, const char *path)
{
	char option[SL_KEY_BYTES], of_model[SL_KEY_BYTES];

	snprintf(of_model, sizeof(of_model), "model.%s", r->model ? r->model->name : "");
	if (strcmp(path, "model") == 0 || strcmp(path, of_model) == 0)
		return true;
	for (size_t i = 0; option_at(r->model, i, option); i++)
		if (sl_key_below(option, path) && strcmp(option, path) != 0)
			return true;
	return false;
}

static const struct sl_model *find_model(const char *name)
{
	for (int i = 0; i < SL_MODEL_COUNT; i++)
		if (strcmp(sl_models[i]->name, name) == 0)
			return sl_models[i];
	return NULL;
}

/* --- hints for unknown keys ------------------------------------------------------------------- */

/* The part of path behind its last dot. */
static const char *leaf_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* "under run:" or "under model: slab:"; "at the top" for what is in no section. */
static void say_section(const char *path, char *text, size_t size)
{
	const char *leaf = leaf_of(path);

	snprintf(text, size, leaf == path ? "at the top" : "under ");
	for (const char *p = path; p < leaf; p++)
		sl_append(text, size, *p == '.' ? p + 1 < leaf ? ": " : ":" : "%c", *p);
}

/* The words that may stand in a section ("" is the top), each once. */
static size_t list_children(const struct sl_reader *r, const char *section,
	char word[WORDS_MAX][SL_WORD_BYTES], const char *words[WORDS_MAX])
{
	char path[SL_KEY_BYTES];
	size_t n = 0, skip = *section ? strlen(section) + 1 : 0;

	for (size_t i = 0; option_at(r->model, i, path) && n < WORDS_MAX; i++) {
		if (*section && (!sl_key_below(path, section) || !path[skip - 1]))
			continue;
		snprintf(word[n], SL_WORD_BYTES, "%.*s", (int)strcspn(path + skip, "."),
			path + skip);
		if (n == 0 || strcmp(word[n], word[n - 1]) != 0) {
			words[n] = word[n];
			n++;
		}
	}
	return n;
}

static void list_models(char *text, size_t size)
{
	for (size_t i = 0; i < SL_MODEL_COUNT; i++)
		sl_append_word(text, size, sl_models[i]->name, i, SL_MODEL_COUNT);
}

/* The key of the same name in another section, if there is one. */
static bool hint_elsewhere(const struct sl_reader *r, const char *leaf, char hint[HINT_BYTES])
{
	char path[SL_KEY_BYTES], section[SL_KEY_BYTES];

	for (size_t i = 0; option_at(r->model, i, path); i++) {
		if (strcmp(leaf_of(path), leaf) != 0)
			continue;
		say_section(path, section, sizeof(section));
		snprintf(hint, HINT_BYTES, "it belongs %s", section);
		return true;
	}
	return false;
}

/* The nearest word: in the same section first, then anywhere. */
static bool hint_nearest(
	const struct sl_reader *r, const char *section, const char *leaf, char hint[HINT_BYTES])
{
	char word[WORDS_MAX][SL_WORD_BYTES], path[SL_KEY_BYTES], where[SL_KEY_BYTES];
	const char *words[WORDS_MAX], *near;
	size_t n = list_children(r, section, word, words);

	near = sl_nearest(leaf, words, n);
	if (near) {
		snprintf(hint, HINT_BYTES, "%s", near);
		return true;
	}
	for (n = 0; n < WORDS_MAX && option_at(r->model, n, path); n++) {
		snprintf(word[n], SL_WORD_BYTES, "%.*s", SL_WORD_BYTES - 1, leaf_of(path));
		words[n] = word[n];
	}
	near = sl_nearest(leaf, words, n);
	for (size_t i = 0; near && i < n; i++) {
		if (words[i] != near)
			continue;
		option_at(r->model, i, path);
		say_section(path, where, sizeof(where));
		snprintf(hint, HINT_BYTES, "%s, %s", near, where);
	}
	return near != NULL;
}

static void complain_unknown(struct sl_reader *r, struct sl_place at, const char *path)
{
	char text[SL_FLAW_BYTES], hint[HINT_BYTES] = "", section[SL_KEY_BYTES];
	char word[WORDS_MAX][SL_WORD_BYTES];
	const char *words[WORDS_MAX], *leaf = leaf_of(path);
	size_t n;

	snprintf(section, sizeof(section), "%.*s", (int)(leaf > path ? leaf - path - 1 : 0), path);
	if (hint_elsewhere(r, leaf, hint)) {
		snprintf(text, sizeof(text), "there is no such key here (%s), try moving it", hint);
	} else {
		n = list_children(r, section, word, words);
		if (!hint_nearest(r, section, leaf, hint))
			for (size_t i = 0; i < n; i++)
				sl_append_word(hint, sizeof(hint), words[i], i, n);
		snprintf(text, sizeof(text), "there is no such key, try %s", hint);
	}
	sl_reader_add(r, at, path, text);
}

/* --- walking ---------------------------------------------------------------------------------- */

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
	const struct sl_model *model = find_model(leaf_of(path));
	char text[SL_FLAW_BYTES];

	if (model && (!r->model || r->model == model)) {
		r->model = model;
		return true;
	}
	if (model) {
		snprintf(text, sizeof(text),
			"a run has one model (%s is chosen already), try removing one of them",
			r->model->name);
	} else {
		snprintf(text, sizeof(text), "there is no such model, try ");
		list_models(text, sizeof(text));
	}
	sl_reader_add(r, at, path, text);
	return false;
}

static void walk(struct sl_reader *r, size_t source, sl_node mapping, const char *above);

/* The section at path, whose value is node. */
static void meet_section(struct sl_reader *r, struct sl_place at, const char *path, sl_node node)
{
	const struct sl_tree *tree = r->tree[at.source];
	char text[SL_FLAW_BYTES], shown[SL_SHOWN_BYTES];

	note(r, at, path, node);
	if (sl_tree_kind(tree, node) == SL_MAPPING) {
		walk(r, at.source, node, path);
		return;
	}
	if (sl_tree_kind(tree, node) == SL_LIST)
		snprintf(text, sizeof(text), "has a list (keys stand below it), try {key: value}");
	else if (*sl_tree_text(tree, node, NULL) == '\0')
		snprintf(text, sizeof(text),
			"has nothing below it (it is a section), try removing it or giving it {}");
	else
		snprintf(text, sizeof(text),
			"has the value %s (keys stand below it), try {key: value}",
			sl_show(shown, sl_tree_text(tree, node, NULL)));
	if (strcmp(path, "model") == 0 && find_model(sl_tree_text(tree, node, NULL)))
		snprintf(text, sizeof(text),
			"has the value '%s' (the parameters stand below the model's name), try "
			"{%s: {}}",
			sl_tree_text(tree, node, NULL), sl_tree_text(tree, node, NULL));
	sl_reader_add(r, at, path, text);
}

/* A key with its full path and its value. */
static void meet(struct sl_reader *r, struct sl_place at, const char *path, sl_node node)
{
	const char *leaf = leaf_of(path);

	if (leaf - path == 6 && strncmp(path, "model.", 6) == 0 && !choose_model(r, at, path))
		return;
	if (is_option(r, path))
		note(r, at, path, node);
	else if (is_section(r, path))
		meet_section(r, at, path, node);
	else
		complain_unknown(r, at, path);
}

static void walk(struct sl_reader *r, size_t source, sl_node mapping, const char *above)
{
	const struct sl_tree *tree = r->tree[source];
	size_t n = sl_tree_size(tree, mapping);

	for (size_t i = 0; i < n; i++) {
		struct sl_place at = {source, 0, 0};
		char path[SL_KEY_BYTES];
		sl_node key, value = sl_tree_item(tree, mapping, i, &key);
		const char *text = sl_tree_text(tree, key, NULL);

		sl_tree_place(tree, key, &at.line, &at.column);
		snprintf(path, sizeof(path), "%s%s%s", above, *above ? "." : "", text);
		if (strchr(text, '.'))
			sl_reader_add(r, at, path,
				"there is no such key (a dot is for --set), try a key below a key");
		else
			meet(r, at, path, value);
	}
}

/* --- --set ------------------------------------------------------------------------------------ */

/* Enters the sections above path, which a --set names in one word. */
static bool enter(struct sl_reader *r, struct sl_place at, const char *path)
{
	char above[SL_KEY_BYTES];

	for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
		snprintf(above, sizeof(above), "%.*s", (int)(dot - path), path);
		if (strchr(above, '.') == above + 5 && strncmp(above, "model.", 6) == 0 &&
			!strchr(above + 6, '.') && !choose_model(r, at, above))
			return false;
		if (!is_section(r, above)) {
			complain_unknown(r, at, is_option(r, above) ? path : above);
			return false;
		}
		if (!sl_reader_seen(r, above))
			note(r, at, above, 0);
	}
	return true;
}

static enum sl_status read_set(struct sl_reader *r, size_t source)
{
	const char *text = r->sets[source - 1], *equals = strchr(text, '=');
	struct sl_place at = {source, 0, 0};
	struct sl_problem problem;
	char path[SL_KEY_BYTES];
	enum sl_status s;

	if (!equals || equals == text || equals - text >= SL_KEY_BYTES) {
		sl_reader_add(r, at, "", "this sets nothing (it has no key), try key=value");
		return SL_OK;
	}
	snprintf(path, sizeof(path), "%.*s", (int)(equals - text), text);
	if (equals[1 + strspn(equals + 1, " ")] == '\0') {
		sl_reader_add(r, at, path, "has no value (nothing follows the =), try key=value");
		return SL_OK;
	}
	s = sl_tree_parse(equals + 1, strlen(equals + 1), &r->tree[source], &problem);
	if (s == SL_BAD_INPUT) {
		sl_reader_add(r, at, path, problem.text);
		sl_tree_free(r->tree[source]);
		r->tree[source] = NULL;
		return SL_OK;
	}
	SL_TRY(s);
	sl_reader_forget(r, path);
	if (strcmp(path, "model") == 0)
		r->model = NULL;
	if (enter(r, at, path))
		meet(r, at, path, sl_tree_root(r->tree[source]));
	return SL_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Complains about key; r is NULL while a default is read. Returns false. */
static bool wrong(struct sl_reader *r, const char *key, const char *why)
{
	if (r)
		sl_config_complain(r, key, "%s", why);
	return false;
}

/* One item of a value; complaints are for key. */
static bool fill_item(struct sl_reader *r, const struct sl_option *o, const char *key,
	const struct sl_tree *tree, sl_node node, void *item)
{
	char why[SL_WHY_BYTES] = "";
	size_t bytes;
	const char *text = sl_tree_text(tree, node, &bytes);

	if (sl_tree_kind(tree, node) == SL_MAPPING)
		snprintf(why, sizeof(why), "has keys below it (it is no section), try %s",
			sl_value_listed(o) ? "a list, as [one, two]" : "one value");
	else if (sl_tree_kind(tree, node) == SL_LIST)
		snprintf(why, sizeof(why), "is a list (one value is needed), try one of them");
	else if (bytes == 0)
		snprintf(why, sizeof(why),
			"has no value (the key stands alone), try removing it "
			"or giving it one");
	else if (strlen(text) != bytes)
		snprintf(why, sizeof(why), "has a NUL in it (no text has), try removing it");
	else if (sl_value_parse(o, text, item, why))
		return true;
	return wrong(r, key, why);
}

/* The value at node, as the option's kind has it. */
static bool fill(struct sl_reader *r, const struct sl_option *o, const char *path,
	const struct sl_tree *tree, sl_node node, void *value)
{
	char key[SL_KEY_BYTES + 24];
	bool list = sl_tree_kind(tree, node) == SL_LIST, right = true;
	size_t n = list ? sl_tree_size(tree, node) : 1;

	if (!sl_value_listed(o) || sl_tree_kind(tree, node) == SL_MAPPING)
		return fill_item(r, o, path, tree, node, value);
	if (n == 0 && o->required)
		return wrong(r, path, "is an empty list (at least one is needed), try [one]");
	if (n > SL_LIST_MAX)
		return wrong(r, path, "is a long list (at most 32 are read), try fewer");
	sl_value_resize(o, value, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), list ? "%s[%zu]" : "%s", path, i);
		right &= fill_item(r, o, key, tree, list ? sl_tree_item(tree, node, i, NULL) : node,
			sl_value_item(o, value, i));
	}
	return right;
}

/* The option's default, or what absent reads as. */
static enum sl_status fill_default(const struct sl_option *o, void *value)
{
	struct sl_problem problem;
	struct sl_tree *tree;
	enum sl_status s;

	sl_value_clear(o, value);
	if (!o->fallback)
		return SL_OK;
	s = sl_tree_parse(o->fallback, strlen(o->fallback), &tree, &problem);
	if (s == SL_OK && !fill(NULL, o, o->key, tree, sl_tree_root(tree), value))
		s = sl_fail(SL_INTERNAL, "the default of %s is none: %s", o->key, o->fallback);
	sl_tree_free(tree);
	return s;
}

/* Fills one option; base is the struct of its table. */
static enum sl_status fill_option(
	struct sl_reader *r, const struct sl_option *o, const char *path, char *base)
{
	struct sl_seen *seen = sl_reader_seen(r, path);
	void *value = base + o->offset;
	struct sl_texts given; /* the largest kind of value */

	SL_TRY(fill_default(o, value));
	if (!seen) {
		if (o->required)
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

static enum sl_status fill_all(struct sl_reader *r, struct sl_config *c)
{
	const struct sl_option *o;
	char path[SL_KEY_BYTES];

	for (size_t i = 0; (o = option_at(r->model, i, path)); i++)
		SL_TRY(fill_option(
			r, o, path, i < sl_n_options ? (char *)c : (char *)c->of_model.bytes));
	for (c->model = 0; c->model < SL_MODEL_COUNT && sl_models[c->model] != r->model;)
		c->model++;
	if (!r->model && !sl_config_flawed(r, "model")) {
		char names[HINT_BYTES] = "";

		list_models(names, sizeof(names));
		sl_config_complain(r, "model", "is missing (a run needs one), try %s", names);
	}
	return SL_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum sl_status make_reader(
	const char *name, const char *const *sets, size_t n_sets, struct sl_reader **r)
{
	void *made, *trees;
	enum sl_status s;

	SL_TRY(sl_memory_get(SL_HOST, sizeof(**r), &made));
	s = sl_memory_get(SL_HOST, (n_sets + 1) * sizeof(struct sl_tree *), &trees);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, made);
		return s;
	}
	*r = (struct sl_reader *)made;
	memset(*r, 0, sizeof(**r));
	memset(trees, 0, (n_sets + 1) * sizeof(struct sl_tree *));
	(*r)->tree = (struct sl_tree **)trees;
	(*r)->sets = sets;
	(*r)->n_sets = n_sets;
	snprintf((*r)->name, sizeof((*r)->name), "%s", name);
	return SL_OK;
}

/* The model that the file names first: known before the walk, so that all hints know its keys. */
static void foresee_model(struct sl_reader *r)
{
	const struct sl_tree *tree = r->tree[0];
	sl_node key;

	sl_tree_item(tree, sl_tree_get(tree, sl_tree_root(tree), "model"), 0, &key);
	r->model = find_model(sl_tree_text(tree, key, NULL));
}

static enum sl_status read_file(struct sl_reader *r, const char *text, size_t bytes)
{
	struct sl_place at = {0, 0, 0};
	struct sl_problem problem;
	enum sl_status s = sl_tree_parse(text, bytes, &r->tree[0], &problem);
	sl_node root;

	if (s == SL_BAD_INPUT) {
		at.line = problem.line;
		at.column = problem.column;
		sl_reader_add(r, at, "", problem.text);
		return sl_config_verdict(r);
	}
	SL_TRY(s);
	root = sl_tree_root(r->tree[0]);
	if (sl_tree_kind(r->tree[0], root) != SL_MAPPING) {
		sl_tree_place(r->tree[0], root, &at.line, &at.column);
		sl_reader_add(r, at, "",
			"there are no keys here (a configuration is made of them), try run: "
			"{particles: 1e6}");
		return sl_config_verdict(r);
	}
	foresee_model(r);
	walk(r, 0, root, "");
	return SL_OK;
}

enum sl_status sl_config_open_text(const char *name, const char *text, size_t bytes,
	const char *const *sets, size_t n_sets, struct sl_config *c, struct sl_reader **r)
{
	*r = NULL;
	memset(c, 0, sizeof(*c));
	c->model = SL_MODEL_COUNT;
	SL_TRY(make_reader(name, sets, n_sets, r));
	SL_TRY(read_file(*r, text, bytes));
	for (size_t i = 1; i <= n_sets; i++)
		SL_TRY(read_set(*r, i));
	return fill_all(*r, c);
}

enum sl_status sl_config_open(const char *path, const char *const *sets, size_t n_sets,
	struct sl_config *c, struct sl_reader **r)
{
	char *text;
	size_t bytes;
	enum sl_status s;

	*r = NULL;
	s = sl_path_read(path, SL_TREE_BYTES, &text, &bytes);
	if (s != SL_OK) {
		memset(c, 0, sizeof(*c));
		c->model = SL_MODEL_COUNT;
		SL_TRY(make_reader(path, sets, n_sets, r));
		sl_reader_add(*r, (struct sl_place){0, 0, 0}, "", sl_story());
		return s;
	}
	s = sl_config_open_text(path, text, bytes, sets, n_sets, c, r);
	sl_memory_give(SL_HOST, text);
	return s;
}

void sl_config_close(struct sl_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i <= r->n_sets; i++)
		sl_tree_free(r->tree[i]);
	sl_memory_give(SL_HOST, r->tree);
	sl_memory_give(SL_HOST, r);
}
