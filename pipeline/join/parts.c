/* parts.c - see join.h. */
#include "pipeline/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/report/report.h"
#include "pipeline/text/text.h"
#include "primitives/files/files.h"

/* --- finding ---------------------------------------------------------------------------------- */

/* Adds the directory path, or path/name. */
static enum sl_status add(struct sl_joined_parts *parts, const char *path, const char *name)
{
	struct sl_joined_part *part;

	SL_TRY(sl_host_grow(&parts->at, parts->n, &parts->capacity, sizeof(*part)));
	part = &parts->at[parts->n++];
	memset(part, 0, sizeof(*part));
	snprintf(part->path, sizeof(part->path), name ? "%.3900s/%s" : "%.3900s", path, name);
	return SL_OK;
}

/* The context of the walk through a directory with directories of parts. */
struct walk {
	struct sl_joined_parts *parts;
	const char *path;
};

static enum sl_status add_if_part(void *ctx, const char *name)
{
	const struct walk *w = (const struct walk *)ctx;
	struct sl_part part;

	return sl_part_find(name, &part) ? add(w->parts, w->path, name) : SL_OK;
}

/* Adds the parts in a directory that holds a run, a part of a run, or parts. */
static enum sl_status find_in(const char *path, struct sl_joined_parts *parts)
{
	struct walk w = {.parts = parts, .path = path};
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	size_t before = parts->n;
	bool has_run = false;

	SL_TRY(sl_dir_open(path, false, &dir));
	SL_TRY(sl_dir_each(&dir, add_if_part, &w));
	if (parts->n == before)
		SL_TRY(sl_file_exists(&dir, "run.json", &has_run));
	if (has_run)
		return add(parts, path, NULL);
	return parts->n > before
	               ? SL_OK
	               : sl_fail(SL_BAD_INPUT,
				 "%s: holds no part of a run (no run.json, and no directory such as "
				 "part_1_of_2); give the --out directories of sluice run --part I/N",
				 path);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads what the parts need for the whole run and leave out of the stored configuration. */
static enum sl_status read_settings(
	const struct sl_existing_run *run, const char **setting, size_t *n, const char **deflate)
{
	const struct sl_yaml *tree = run->tree;
	sl_node root = SL_YAML_ROOT, list = sl_yaml_get(tree, root, "part.settings");

	*n = 0;
	for (size_t i = 0; i < sl_yaml_size(tree, list); i++) {
		const char *text = sl_yaml_text(tree, sl_yaml_item(tree, list, i, NULL), NULL);

		if (*n == SL_EXISTING_RUN_SETS_MAX - 1 ||
			(strncmp(text, "check.", 6) != 0 &&
				strncmp(text, "output.joined=", 14) != 0))
			return sl_fail(SL_BAD_INPUT,
				"run.json: '%.100s' is no setting of a part; compute the part again "
				"with --force",
				text);
		setting[(*n)++] = text;
	}
	*deflate = sl_yaml_text(tree, sl_yaml_get(tree, root, "part.deflate"), NULL);
	return SL_OK;
}

/* Compares the run of a part with that of the first. */
static enum sl_status compare(const struct sl_joined_parts *parts,
	const struct sl_joined_part *part, const struct sl_existing_run *run)
{
	const char *setting[SL_EXISTING_RUN_SETS_MAX], *deflate, *first = parts->at[0].path;
	char old[SL_DIFFERENCE_BYTES], now[SL_DIFFERENCE_BYTES];
	size_t n, i = 0;

	if (run->part.of != parts->of)
		return sl_fail(SL_BAD_INPUT,
			"%s is a part of %lu and %s a part of %lu, so they have other batches; give the "
			"parts of one run",
			first, parts->of, part->path, run->part.of);
	if (sl_existing_run_differs(parts->first.config, run->config, true, old, now))
		return sl_fail(SL_BAD_INPUT,
			"%s and %s are parts of runs with other configurations (\"%s\" and \"%s\"); give "
			"the parts of one run",
			first, part->path, old, now);
	SL_TRY(read_settings(run, setting, &n, &deflate));
	while (i < n && i < parts->n_settings && strcmp(setting[i], parts->setting[i]) == 0)
		i++;
	if (i == n && n == parts->n_settings)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"%s and %s have other settings of check: or output.joined (\"%s\" and \"%s\"), so the "
		"results of the run are not defined; run one of the parts again with --resume",
		first, part->path, i < parts->n_settings ? parts->setting[i] : "",
		i < n ? setting[i] : "");
}

/* Uses run.json, which is of the first part or is compared with it. */
static enum sl_status use_run(struct sl_joined_parts *parts, struct sl_joined_part *part,
	const struct sl_dir *dir, const struct sl_existing_run *run)
{
	if (run->part.of == 0)
		return sl_fail(SL_BAD_INPUT,
			"%s: holds a whole run, not a part of one; give the --out directories of sluice "
			"run --part I/N",
			part->path);
	if (run->rules_version != SL_RULES_VERSION)
		return sl_fail(SL_BAD_INPUT,
			"%s: holds a part of rules version %lu, and this program has version %d; join "
			"the parts with the program that computed them",
			part->path, run->rules_version, SL_RULES_VERSION);
	if (parts->first.tree) {
		SL_TRY(compare(parts, part, run));
	} else {
		parts->first = *run;
		parts->of = run->part.of;
		SL_TRY(read_settings(run, parts->setting, &parts->n_settings, &parts->deflate));
		SL_TRY(sl_part_members_read(dir, &parts->members));
	}
	part->part = run->part;
	sl_part_times_add(run, &part->times, &parts->session);
	return sl_manifest_read(dir, &part->manifest);
}

/* Reads run.json, whose checksum must be right, and the manifest of a part. */
static enum sl_status read_part(struct sl_joined_parts *parts, struct sl_joined_part *part)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_existing_run run;
	enum sl_status s;
	bool exists;

	SL_TRY(sl_dir_open(part->path, false, &dir));
	SL_TRY(sl_file_exists(&dir, "run.json", &exists));
	if (!exists)
		return sl_fail(SL_BAD_INPUT,
			"%s: has no run.json (the part has not started); compute it with sluice run "
			"--part I/N --resume",
			part->path);
	SL_TRY(sl_report_check(&dir));
	SL_TRY(sl_existing_run_read(&dir, &run));
	s = use_run(parts, part, &dir, &run);
	if (parts->first.tree != run.tree)
		sl_existing_run_free(&run);
	return s;
}

static int by_number(const void *a, const void *b)
{
	uint64_t p = ((const struct sl_joined_part *)a)->part.number;
	uint64_t q = ((const struct sl_joined_part *)b)->part.number;

	return (p > q) - (p < q);
}

enum sl_status sl_parts_open(const char *const *in, size_t n, struct sl_joined_parts *parts)
{
	memset(parts, 0, sizeof(*parts));
	for (size_t i = 0; i < n; i++)
		SL_TRY(find_in(in[i], parts));
	for (size_t i = 0; i < parts->n; i++)
		SL_TRY(read_part(parts, &parts->at[i]));
	qsort(parts->at, parts->n, sizeof(*parts->at), by_number);
	for (size_t i = 1; i < parts->n; i++)
		if (parts->at[i].part.number == parts->at[i - 1].part.number)
			return sl_fail(SL_USAGE,
				"part %lu of %lu is given twice, in %s and %s; leave one of them out",
				parts->at[i].part.number, parts->of, parts->at[i - 1].path,
				parts->at[i].path);
	return SL_OK;
}

void sl_parts_free(struct sl_joined_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		sl_manifest_free(&parts->at[i].manifest);
	sl_memory_give(SL_HOST, parts->at);
	sl_memory_give(SL_HOST, parts->members);
	sl_existing_run_free(&parts->first);
	memset(parts, 0, sizeof(*parts));
}
