/* existing_run.c - run.json read back, and held against a plan. */
#include "pipeline/output/existing_run.h"

#include <string.h>

#include "pipeline/config/reader/read_config.h"
#include "pipeline/text/yaml.h"
#include "primitives/files/read.h"
#include "stages/formats/formats.h"

static enum sl_status bad_run_json(const struct sl_dir *dir, const char *why)
{
	return sl_fail(SL_BAD_INPUT,
		"%s/run.json: %s (it is not what a run has written), try --force to begin anew or "
		"another --out",
		dir->path, why);
}

/* The member of the mapping at the root of run.json, as text. */
static const char *member(const struct sl_yaml *tree, const char *key)
{
	sl_node node = sl_yaml_get(tree, sl_yaml_root(tree), key);

	return node && sl_yaml_kind(tree, node) == SL_SCALAR ? sl_yaml_text(tree, node, NULL)
	                                                     : NULL;
}

/* Cuts the text before the list of batches, which may be longer than a tree can be. */
static size_t cut_batches(char *text, size_t bytes)
{
	/* a newline within a string would be escaped: this can only be a member of the root */
	char *batches = strstr(text, "\n\t\"batches\": [");

	if (!batches)
		return bytes;
	batches[1] = '}'; /* YAML allows the comma before it */
	return (size_t)(batches + 2 - text);
}

static enum sl_status look_up(const struct sl_dir *dir, struct sl_existing_run *f)
{
	const struct sl_yaml *tree = f->tree;
	sl_node root = sl_yaml_root(tree);
	const char *format;

	if (sl_yaml_kind(tree, root) != SL_MAPPING)
		return bad_run_json(dir, "is no mapping");
	f->config = member(tree, "config");
	f->name = member(tree, "name");
	f->state = member(tree, "state");
	format = member(tree, "format");
	f->image = f->config && strstr(f->config, "\n  image: true\n");
	f->joined = member(tree, "joined") != NULL;
	f->format = format ? sl_format_find(format) : NULL;
	if (!f->config ||
		!sl_yaml_u64(tree, sl_yaml_get(tree, root, "rules_version"), &f->rules_version))
		return bad_run_json(dir, "has no config or rules_version");
	if (f->name && strchr(f->name, '/'))
		f->name = NULL;
	return SL_OK;
}

enum sl_status sl_existing_run_read(const struct sl_dir *dir, struct sl_existing_run *f)
{
	struct sl_yaml_problem problem;
	enum sl_status s;
	size_t bytes;
	char *text;

	memset(f, 0, sizeof(*f));
	SL_TRY(sl_file_read(dir, "run.json", &text, &bytes));
	s = sl_yaml_parse(text, cut_batches(text, bytes), &f->tree, &problem);
	sl_memory_give(SL_HOST, text);
	if (s != SL_OK)
		return bad_run_json(dir, problem.text);
	s = look_up(dir, f);
	if (s != SL_OK)
		sl_existing_run_free(f);
	return s;
}

void sl_existing_run_free(struct sl_existing_run *f)
{
	sl_yaml_free(f->tree);
	f->tree = NULL;
}

uint64_t sl_existing_run_batch(const struct sl_existing_run *f)
{
	struct sl_yaml *tree = NULL;
	struct sl_yaml_problem problem;
	uint64_t batch = 0;

	if (sl_yaml_parse(f->config, strlen(f->config), &tree, &problem) == SL_OK) {
		sl_node root = sl_yaml_root(tree), run = sl_yaml_get(tree, root, "run");

		if (!sl_yaml_u64(tree, sl_yaml_get(tree, run, "batch"), &batch))
			batch = 0;
	}
	sl_yaml_free(tree);
	return batch;
}

enum sl_status sl_existing_run_plan(const struct sl_existing_run *f, const char *const *set,
	size_t n_sets, struct sl_plan **plan)
{
	static struct sl_config config;
	static struct sl_choices choices;
	const char *all[1 + SL_EXISTING_RUN_SETS_MAX] = {"run.device=cpu"}; /* nothing is run */
	struct sl_reader *reader = NULL;
	enum sl_status s;

	*plan = NULL;
	for (size_t i = 0; i < n_sets; i++)
		all[1 + i] = set[i];
	s = sl_config_open_text(
		"run.json", f->config, strlen(f->config), all, 1 + n_sets, &config, &reader);
	if (s == SL_OK)
		s = sl_resolve(&config, reader, &choices);
	sl_config_close(reader);
	return s == SL_OK ? sl_plan_make(&config, &choices, plan) : s;
}

/* Copies the line that *text is at and moves on; false at the end. */
static bool next_line(const char **text, char line[SL_TEXT_BYTES])
{
	size_t n = strcspn(*text, "\n");

	if (**text == '\0')
		return false;
	snprintf(line, SL_TEXT_BYTES, "%.*s", (int)(n < SL_TEXT_BYTES ? n : SL_TEXT_BYTES - 1),
		*text);
	*text += n + ((*text)[n] == '\n');
	return true;
}

/* The run that is there must be of the same configuration: the first line that differs is told. */
static enum sl_status same_config(const struct sl_dir *dir, const char *was, const char *is)
{
	char old[SL_TEXT_BYTES], now[SL_TEXT_BYTES];

	for (;;) {
		bool more_old = next_line(&was, old), more_new = next_line(&is, now);

		if (!more_old && !more_new)
			return SL_OK;
		if (!more_old || !more_new || strcmp(old, now) != 0)
			return sl_fail(SL_OUTPUT_IN_USE,
				"%s: holds a run of another configuration (it has \"%s\" where "
				"this one has \"%s\"), try the same configuration, another --out "
				"or --force",
				dir->path, more_old ? old + strspn(old, " ") : "",
				more_new ? now + strspn(now, " ") : "");
	}
}

enum sl_status sl_existing_run_check(
	const struct sl_existing_run *f, const struct sl_plan *plan, const struct sl_dir *dir)
{
	if (f->rules_version != SL_RULES_VERSION)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: its run was begun under version %llu of the rules, this program has "
			"%d (the rest would not have the same bits), try the program that began "
			"it or --force",
			dir->path, (unsigned long long)f->rules_version, SL_RULES_VERSION);
	return same_config(dir, f->config, plan->config_text);
}
