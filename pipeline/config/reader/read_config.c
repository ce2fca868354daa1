/*
 * read_config.c - reads a configuration in two passes.
 *
 * First each source (the file, then each --set) is parsed as YAML and its keys are matched with the
 * option tables (match_keys.c). Then the values are read (read_values.c), so that a value that a
 * --set replaces need not be valid.
 */
#include "pipeline/config/reader/reader.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/external/external.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/models/models.h"

/*
 * Makes a configuration without a model, whose options stay zero, and a reader, followed by one
 * tree pointer per source. The texts of --set are not copied. The lists of keys and problems and
 * the report are written before they are read, and stay as they are: 400 KB.
 */
static enum sl_status begin(const char *name, const char *const *sets, size_t n_sets,
	struct sl_config *c, struct sl_reader **r)
{
	size_t trees = (n_sets + 1) * sizeof(struct sl_yaml *);

	*r = NULL;
	memset(c, 0, sizeof(*c));
	SL_TRY(sl_host_get(1, sizeof(**r) + trees, r));
	memset(*r, 0, offsetof(struct sl_reader, seen));
	(*r)->tree = (struct sl_yaml **)(void *)(*r + 1);
	memset((*r)->tree, 0, trees);
	(*r)->sets = sets;
	(*r)->n_sets = n_sets;
	snprintf((*r)->name, sizeof((*r)->name), "%s", name);
	return SL_OK;
}

/* Loads the external models of a value of the key models. *item is the one that fails. */
static enum sl_status load_models(const struct sl_yaml *tree, sl_node models, sl_node *item)
{
	const bool listed = sl_yaml_kind(tree, models) == SL_LIST;

	for (size_t i = 0; i < (listed ? sl_yaml_size(tree, models) : models != 0); i++) {
		*item = listed ? sl_yaml_item(tree, models, i, NULL) : models;
		SL_TRY(sl_external_load(sl_yaml_text(tree, *item, NULL), NULL));
	}
	return SL_OK;
}

/* The same for each --set of that key: before the file is read, whose model may be one of them. */
static enum sl_status load_models_of_sets(const struct sl_reader *r)
{
	enum sl_status s = SL_OK;

	for (size_t i = 0; s == SL_OK && i < r->n_sets; i++) {
		const char *text = sl_set_key(r->sets[i]), *value = strchr(text, '=');
		struct sl_yaml_problem problem;
		struct sl_yaml *tree = NULL;
		sl_node item;

		if (!value || strncmp(text, "models=", (size_t)(value + 1 - text)) != 0)
			continue;
		if (sl_yaml_parse(value + 1, strlen(value + 1), &tree, &problem) == SL_OK)
			s = load_models(tree, SL_YAML_ROOT, &item);
		sl_yaml_free(tree);
	}
	return s;
}

/* Sets the model to the first that the file names, so that suggestions include its keys. */
static void find_model(struct sl_reader *r)
{
	const struct sl_yaml *tree = r->tree[0];
	sl_node key;

	sl_yaml_item(tree, sl_yaml_get(tree, SL_YAML_ROOT, "model"), 0, &key);
	r->model = sl_model_find(sl_yaml_text(tree, key, NULL));
}

/*
 * Parses the text and matches its keys. A text that is not a mapping ends the reading. External
 * models are loaded only if the user wrote it, because loading runs code.
 */
static enum sl_status read_text(
	struct sl_reader *r, const char *text, size_t bytes, bool is_of_user)
{
	struct sl_place at = {0, 0, 0};
	struct sl_yaml_problem problem;
	enum sl_status s = sl_yaml_parse(text, bytes, &r->tree[0], &problem);
	const char *other = NULL; /* what the file is, if it is no configuration */
	sl_node item;

	if (s == SL_BAD_INPUT) {
		at.line = problem.line;
		at.column = problem.column;
		sl_reader_add(r, at, "", "%s",
			bytes > 8 && memcmp(text, "MCPL", 4) == 0
				? "is a particle list; sluice info prints it, and a configuration "
				  "names it: model: {list: {files: [FILE]}}"
				: problem.text);
		return sl_config_verdict(r);
	}
	SL_TRY(s);
	if (sl_yaml_kind(r->tree[0], SL_YAML_ROOT) != SL_MAPPING) {
		at = sl_reader_place(r, 0, SL_YAML_ROOT);
		other = "a configuration must be a mapping of keys to values; write for example run: {particles: 1e6}";
	}
	if (sl_yaml_get(r->tree[0], SL_YAML_ROOT, "Optode") &&
		sl_yaml_get(r->tree[0], SL_YAML_ROOT, "Domain"))
		other = "is an input file of MCX; the Python package runs it: python -m sluice mcx FILE";
	if (sl_yaml_get(r->tree[0], SL_YAML_ROOT, "rules_version"))
		other = "is the run.json of a run; write the text of its member config to a file, and name that";
	if (other) {
		sl_reader_add(r, at, "", "%s", other);
		return sl_config_verdict(r);
	}
	if (is_of_user && load_models(r->tree[0], sl_yaml_get(r->tree[0], SL_YAML_ROOT, "models"),
				  &item) != SL_OK)
		sl_reader_add(r, sl_reader_place(r, 0, item), "models", "%s", sl_last_error());
	find_model(r);
	sl_reader_match_keys(r, 0, SL_YAML_ROOT, "");
	return SL_OK;
}

/* Parses --set number source and matches its key. A wrong --set adds a problem and is skipped. */
static enum sl_status read_set(struct sl_reader *r, size_t source)
{
	const char *text = sl_set_key(r->sets[source - 1]), *equals = strchr(text, '=');
	struct sl_place at = {source, 0, 0};
	struct sl_yaml_problem problem;
	char path[SL_KEY_BYTES];
	enum sl_status s;

	if (!equals || equals == text || equals - text >= SL_KEY_BYTES) {
		sl_reader_add(r, at, "",
			"is not of the form key=value; write for example --set run.seed=3");
		return SL_OK;
	}
	/* the key ends at the first =; the value can contain further ones */
	snprintf(path, sizeof(path), "%.*s", (int)(equals - text), text);
	if (equals[1 + strspn(equals + 1, " ")] == '\0') {
		sl_reader_add(r, at, path, "has no value after the =; write --set key=value");
		return SL_OK;
	}
	s = sl_yaml_parse(equals + 1, strlen(equals + 1), &r->tree[source], &problem);
	if (s == SL_BAD_INPUT) {
		sl_reader_add(r, at, path, "%s", problem.text);
		sl_yaml_free(r->tree[source]);
		r->tree[source] = NULL;
		return SL_OK;
	}
	SL_TRY(s);
	sl_reader_match_set(r, source, path);
	return SL_OK;
}

/* Reads the text, then each --set, then the values. */
static enum sl_status read_all(
	struct sl_reader *r, const char *text, size_t bytes, bool is_of_user, struct sl_config *c)
{
	SL_TRY(read_text(r, text, bytes, is_of_user));
	for (size_t i = 1; i <= r->n_sets; i++)
		SL_TRY(read_set(r, i));
	return sl_reader_read_values(r, c);
}

enum sl_status sl_config_open_text(const char *name, const char *text, size_t bytes,
	const char *const *sets, size_t n_sets, struct sl_config *c, struct sl_reader **r)
{
	SL_TRY(begin(name, sets, n_sets, c, r));
	SL_TRY(load_models_of_sets(*r));
	return read_all(*r, text, bytes, true, c);
}

enum sl_status sl_config_open_stored(const char *name, const char *text, const char *const *sets,
	size_t n_sets, struct sl_config *c, struct sl_reader **r)
{
	SL_TRY(begin(name, sets, n_sets, c, r));
	return read_all(*r, text, strlen(text), false, c);
}

enum sl_status sl_config_open(const char *path, const char *const *sets, size_t n_sets,
	struct sl_config *c, struct sl_reader **r)
{
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	size_t bytes;
	enum sl_status s = sl_path_read(path, SL_YAML_BYTES, &text, &bytes);

	if (s != SL_OK) {
		SL_TRY(begin(path, sets, n_sets, c, r));
		sl_reader_add(*r, (struct sl_place){0, 0, 0}, "", "%s", sl_last_error());
		/* a wrong file name is a usage error; a disk error keeps its code */
		return s == SL_BAD_INPUT || sl_path_is_missing(path, F_OK) ? SL_USAGE : s;
	}
	return sl_config_open_text(path, text, bytes, sets, n_sets, c, r);
}

void sl_config_close(struct sl_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i <= r->n_sets; i++)
		sl_yaml_free(r->tree[i]);
	sl_memory_give(SL_HOST, r);
}
