/*
 * suggest.c - searches the option tables for keys that resemble an unknown one.
 *
 * In this order: a number after a decimal comma; the same key in another section; the nearest key
 * of the section by edit distance; the nearest key of all sections; else all keys of the section.
 */
#include "pipeline/config/reader/reader.h"

#include <stdio.h>
#include <string.h>

#include "stages/models/models.h"

enum { WORDS_MAX = 256, PLACES_MAX = 4 };

/* Components of option paths; at[] points into text[]. */
struct suggested_words {
	size_t n;
	const char *at[WORDS_MAX];
	char text[WORDS_MAX][SL_WORD_BYTES];
};

/* Adds a word unless it equals the last one: the keys of a section are adjacent in the tables. */
static void add_word(struct suggested_words *w, const char *text, size_t bytes)
{
	char *to = w->text[w->n];

	bytes = bytes < SL_WORD_BYTES ? bytes : SL_WORD_BYTES - 1;
	memcpy(to, text, bytes);
	to[bytes] = '\0';
	if (w->n + 1 < WORDS_MAX && (w->n == 0 || strcmp(w->at[w->n - 1], to) != 0))
		w->at[w->n++] = to;
}

/* Writes the section that contains path: "under model: slab:", or "at the top level". */
static const char *say_section(const char *path)
{
	const char *leaf = sl_key_leaf(path);
	char *text = sl_message_part();

	snprintf(text, SL_KEY_BYTES, leaf == path ? "at the top level" : "under ");
	for (const char *p = path; p < leaf; p++)
		sl_append(text, SL_KEY_BYTES, *p != '.' ? "%c" : p + 1 < leaf ? ": " : ":", *p);
	return text;
}

/* Lists the keys of a section; "" is the top level. */
static void list_children(const struct sl_reader *r, const char *section, struct suggested_words *w)
{
	size_t skip = *section ? strlen(section) + 1 : 0;
	char path[SL_KEY_BYTES];

	w->n = 0;
	for (size_t i = 0; sl_option_at(r->model, i, path); i++)
		if (!*section || (sl_key_below(path, section) && path[skip - 1] == '.'))
			add_word(w, path + skip, strcspn(path + skip, ".["));
}

/* Lists the keys of the section that contains path, whose name it writes to section. */
static void list_siblings(const struct sl_reader *r, const char *path, char section[SL_KEY_BYTES],
	struct suggested_words *w)
{
	const char *leaf = sl_key_leaf(path);
	char pattern[SL_KEY_BYTES];

	snprintf(section, SL_KEY_BYTES, "%.*s", (int)(leaf > path ? leaf - path - 1 : 0), path);
	list_children(r, sl_key_pattern(section, pattern), w);
}

/* The part of path up to the end of the first component that is name; 0 if none is. */
static size_t bytes_to_component(const char *path, const char *name)
{
	size_t n = 0, bytes = strlen(name);

	for (const char *p = path; *p; p += n + (p[n] == '.')) {
		n = strcspn(p, ".[");
		if (n == bytes && memcmp(p, name, n) == 0)
			return (size_t)(p - path) + n;
		n = strcspn(p, ".");
	}
	return 0;
}

/* The sections that have a key or a section of this name; NULL when there is none. */
static const char *find_elsewhere(const struct sl_reader *r, const char *leaf)
{
	const char *words[PLACES_MAX];
	char path[SL_KEY_BYTES];
	size_t n = 0, bytes;

	for (size_t i = 0; n < PLACES_MAX && sl_option_at(r->model, i, path); i++) {
		bytes = bytes_to_component(path, leaf);
		if (bytes == 0)
			continue;
		path[bytes] = '\0';
		words[n] = say_section(path);
		n += n == 0 || strcmp(words[n], words[n - 1]) != 0;
	}
	return n > 0 ? sl_listed(words, n) : NULL;
}

/* The nearest key of all sections, with its section; NULL when none is near. */
static const char *nearest_anywhere(const struct sl_reader *r, const char *leaf)
{
	const char *near, *words[WORDS_MAX];
	const struct sl_option *o;
	char path[SL_KEY_BYTES];
	size_t n = 0, i = 0;

	for (; n < WORDS_MAX && (o = sl_option_at(r->model, n, path)) != NULL; n++)
		words[n] = sl_key_leaf(o->key);
	near = sl_nearest(leaf, words, n);
	if (!near)
		return NULL;
	while (words[i] != near)
		i++;
	sl_option_at(r->model, i, path);
	return sl_said("%.*s, %s", SL_WORD_BYTES, near, say_section(path));
}

#define REMOVED       "it was removed; "
#define ROUNDS_ADVICE REMOVED "remove it, because schedule: rounds needs no other key"

#define DERIVED "derived columns are defined by columns: {NAME: EXPRESSION}; write columns"

/* What is wrong with a key of an earlier version, a guessed one, or one that cannot be; or NULL. */
static const char *instead_of(const char *path)
{
	static const char *const ends[][2] = {
		{"run.tuning",
			REMOVED "write block and items after a backend (sort: shared:block=512)"},
		{"transport.steps_per_launch", ROUNDS_ADVICE},
		{"transport.compact", ROUNDS_ADVICE},
		{"transport.sort", ROUNDS_ADVICE},
		{"transport.key", ROUNDS_ADVICE},
		{"transport.finish", ROUNDS_ADVICE},
		{"derive", DERIVED},
		{"derived", DERIVED},
		{"list.smear.energy",
			"the histories that lists start have no energy; change the energies in the "
			"list itself (in Python: sluice.read, sluice.write_mcpl)"},
	};
	const size_t bytes = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t n = strlen(ends[i][0]);

		if (bytes >= n && strcmp(path + bytes - n, ends[i][0]) == 0)
			return ends[i][1];
	}
	return NULL;
}

/*
 * Names one key if one is near. Else it lists the keys of the section only, because the list of all
 * keys would be longer than the message can be.
 */
const char *sl_suggest_key(const struct sl_reader *r, const char *path)
{
	const char *leaf = sl_key_leaf(path), *hint = find_elsewhere(r, leaf);
	char section[SL_KEY_BYTES];
	struct suggested_words w;

	if (sl_is_after_comma(leaf))
		return "unknown key: YAML reads a comma as a separator; write " SL_COMMA_ADVICE;
	if (instead_of(path))
		return sl_said("unknown key: %s", instead_of(path));
	if (hint)
		return sl_said("unknown key here: it belongs %s; move it there", hint);
	list_siblings(r, path, section, &w);
	if (w.n == 0)
		return sl_said(
			"unknown key: %s is a value, not a section; use %s", section, section);
	/* the section first: a typing error is more likely than a wrong section */
	hint = sl_nearest(leaf, w.at, w.n);
	if (!hint)
		hint = nearest_anywhere(r, leaf);
	if (!hint)
		hint = sl_listed(w.at, w.n);
	return sl_said("unknown key; use %s", hint);
}

/* One typing error would otherwise give two problems: an unknown key and a missing one. */
bool sl_suggest_covers(const struct sl_reader *r, const char *path)
{
	const char *leaf = sl_key_leaf(path);
	size_t skip = (size_t)(leaf - path);
	char section[SL_KEY_BYTES];
	struct suggested_words w;

	list_siblings(r, path, section, &w);
	for (size_t i = 0; i < r->n_problems; i++) {
		const char *key = r->problem[i].key, *near;

		if ((size_t)(sl_key_leaf(key) - key) != skip || strncmp(key, path, skip) != 0)
			continue;
		near = sl_nearest(key + skip, w.at, w.n);
		if (near && strcmp(near, leaf) == 0)
			return true;
	}
	return false;
}

const char *sl_suggest_model(const char *written)
{
	const char *words[SL_MODELS_MAX];

	for (size_t i = 0; i < (size_t)sl_n_models; i++)
		words[i] = sl_models[i]->name;
	if (!*written || sl_nearest(written, words, (size_t)sl_n_models))
		return sl_suggested(written, words, (size_t)sl_n_models);
	return sl_said("%s, or name the file of an external model with --models",
		sl_listed(words, (size_t)sl_n_models));
}
