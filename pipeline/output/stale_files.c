/* stale_files.c - see output.h. */
#include "pipeline/output/output.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/plan/plan.h"
#include "stages/inputs/inputs.h"

struct sl_stale_files sl_stale_files_for(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *keep)
{
	return (struct sl_stale_files){.run = plan->config.run.name,
		.format = plan->choices.format,
		.dir = dir,
		.keep = keep,
		.batches = sl_plan_batches(plan),
		.bins = sl_counter_words(&plan->recipe) > 0,
		.image = plan->config.output.image,
		.joined = sl_plan_is_joined(plan)};
}

/* Is name equal to `to`, or to that with .part? */
static bool is_equal(const char *name, const char *to)
{
	size_t n = strlen(to);

	return strncmp(name, to, n) == 0 && (name[n] == '\0' || strcmp(name + n, ".part") == 0);
}

/*
 * Is name a file of a batch of s->batches, complete or .part: RUN_NUMBER with a suffix? Sets *batch
 * to the number. Numbers have six digits or more (file_names.c); more than 18 would not fit in
 * *batch.
 */
static bool is_batch_file(const struct sl_stale_files *s, const char *name, uint64_t *batch)
{
	size_t n = strlen(s->run), digits;

	if (strncmp(name, s->run, n) != 0 || name[n] != '_')
		return false;
	name += n + 1;
	digits = strspn(name, "0123456789");
	*batch = strtoull(name, NULL, 10);
	return digits >= 6 && digits <= 18 && *batch >= s->batches.first &&
	       *batch < s->batches.end &&
	       ((s->format->suffix[0] && is_equal(name + digits, s->format->suffix)) ||
		       (s->bins && is_equal(name + digits, SL_COUNTERS_SUFFIX)) ||
		       is_equal(name + digits, SL_ORDER_SUFFIX));
}

/* The rows of a merge, or the parts of a file of columns: LIST.NUMBER_NUMBER.part (merge/). */
static bool is_intermediate(const char *name, const char *list)
{
	static const char digits[] = "0123456789";
	size_t n = strlen(list), kind, number;

	if (strncmp(name, list, n) != 0 || name[n] != '.')
		return false;
	name += n + 1;
	kind = strspn(name, digits);
	if (kind == 0 || name[kind] != '_')
		return false;
	number = strspn(name + kind + 1, digits);
	return number > 0 && strcmp(name + kind + 1 + number, ".part") == 0;
}

/*
 * Is name any file that the run writes, complete or .part? The side files of the image are the
 * last.
 */
static bool is_file_of_run(const struct sl_stale_files *s, const char *name)
{
	int n_side_files = s->image ? SL_SIDE_COUNT : SL_SIDE_IMAGE;
	char other[SL_FILE_NAME_BYTES];
	uint64_t batch;
	bool found = is_batch_file(s, name, &batch) || is_equal(name, "run.json") ||
	             is_equal(name, "manifest.jsonl");

	for (int i = 0; i < n_side_files; i++)
		found = found ||
		        is_equal(name, sl_side_file_name(s->run, (enum sl_side_file)i, other));
	if (!s->joined || !s->format->suffix[0]) /* the format none has no list */
		return found;
	sl_merged_list_name(s->run, s->format, other);
	return found || is_equal(name, other) || is_intermediate(name, other);
}

/* For bsearch() in the lines of a manifest. */
static int by_batch(const void *number, const void *line)
{
	uint64_t a = *(const uint64_t *)number, b = ((const struct sl_manifest_line *)line)->batch;

	return (a > b) - (a < b);
}

/* Removes name if it is a .part file of the run, or a file of a batch whose line s->keep lacks. */
static enum sl_status remove_orphan(void *ctx, const char *name)
{
	const struct sl_stale_files *s = (const struct sl_stale_files *)ctx;
	const struct sl_manifest_line *line = NULL;
	uint64_t batch;

	if (sl_path_ends_in(name, ".part") && is_file_of_run(s, name))
		return sl_file_remove(s->dir, name);
	if (!is_batch_file(s, name, &batch))
		return SL_OK;
	if (s->keep->n > 0) /* without lines, line is NULL, which bsearch() must not get */
		line = (const struct sl_manifest_line *)bsearch(
			&batch, s->keep->line, s->keep->n, sizeof(*s->keep->line), by_batch);
	for (int k = 0; line && k < SL_BATCH_FILES; k++)
		if (strcmp(line->files[k].name, name) == 0)
			return SL_OK;
	return sl_file_remove(s->dir, name);
}

/* An earlier session can have had output.joined, which may change on --resume. */
enum sl_status sl_stale_files_remove_orphans(struct sl_stale_files *s)
{
	s->joined = true;
	return sl_dir_each(s->dir, remove_orphan, s);
}

enum sl_status sl_stale_files_remove_results(
	const struct sl_plan *plan, const struct sl_dir *dir, bool joined)
{
	int n_side_files = plan->config.output.image ? SL_SIDE_COUNT : SL_SIDE_IMAGE;
	const char *run = plan->config.run.name;
	char name[SL_FILE_NAME_BYTES];

	for (int i = 0; i < n_side_files; i++)
		SL_TRY(sl_file_remove(dir, sl_side_file_name(run, (enum sl_side_file)i, name)));
	if (!joined || !plan->choices.format->suffix[0])
		return SL_OK;
	return sl_file_remove(dir, sl_merged_list_name(run, plan->choices.format, name));
}

/* Removes a file of the run except run.json; with s->inputs, only fails if it is an input file. */
static enum sl_status remove_file(void *ctx, const char *name)
{
	const struct sl_stale_files *s = (const struct sl_stale_files *)ctx;
	bool is_input;

	if (!is_file_of_run(s, name) || strcmp(name, "run.json") == 0)
		return SL_OK;
	if (!s->inputs)
		return sl_file_remove(s->dir, name);
	SL_TRY(sl_inputs_contain(s->inputs, s->dir, name, &is_input));
	if (!is_input)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/%s: is an input of this run, and --force would remove it; choose another --out",
		s->dir->path, name);
}

/*
 * Removes the files of the existing run, which may have another name or format than the plan's.
 * Names decide, not the lines of its manifest: a manifest could name any file of the user.
 */
static enum sl_status remove_existing_run(
	const struct sl_stale_files *plan, const struct sl_existing_run *existing)
{
	struct sl_stale_files s = *plan;
	struct sl_existing_sizes sizes;

	if (!existing->name || !existing->format)
		return SL_OK;
	SL_TRY(sl_existing_run_sizes(existing, &sizes));
	s.batches = (struct sl_batch_range){.end = sizes.batch > 0 ? sizes.n_batches : UINT64_MAX};
	s.bins = true;
	s.run = existing->name;
	s.format = existing->format;
	s.image = existing->image;
	s.joined = existing->joined;
	return sl_dir_each(s.dir, remove_file, &s);
}

/* run.json is removed last: after an interrupted removal, --force can find the names again. */
enum sl_status sl_stale_files_remove_run(struct sl_stale_files *s)
{
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run existing = {.tree = NULL};
	enum sl_status status = SL_OK;
	bool exists;

	SL_TRY(sl_file_exists(s->dir, "run.json", &exists));
	if (exists)
		status = sl_existing_run_read(s->dir, &existing);
	if (exists && status == SL_OK)
		status = remove_existing_run(s, &existing);
	if (status != SL_BAD_INPUT) /* a damaged run.json does not say which files to remove */
		SL_TRY(status);
	SL_TRY(sl_dir_each(s->dir, remove_file, s));
	return s->inputs ? SL_OK : sl_file_remove(s->dir, "run.json");
}

/* Parts in the directory of a killed run are its own: it ended before it wrote run.json. */
static enum sl_status refuse_used(void *ctx, const char *name)
{
	const struct sl_stale_files *s = (const struct sl_stale_files *)ctx;

	if (!is_file_of_run(s, name) || (sl_path_ends_in(name, ".part") && s->dir->interrupted))
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/%s: the file exists (the run needs this name, and no run.json says that a run "
		"made the file); move it away, or choose another --out or run.name",
		s->dir->path, name);
}

/* The same for the name of a file of a batch. */
static enum sl_status refuse_used_batch(void *ctx, const char *name)
{
	uint64_t batch;

	return is_batch_file((const struct sl_stale_files *)ctx, name, &batch)
	               ? refuse_used(ctx, name)
	               : SL_OK;
}

enum sl_status sl_stale_files_check(
	const struct sl_plan *plan, const struct sl_dir *dir, uint64_t first)
{
	struct sl_stale_files s = sl_stale_files_for(plan, dir, NULL);

	if (first > 0)
		s.batches.first = first;
	return sl_dir_each(dir, first > 0 ? refuse_used_batch : refuse_used, &s);
}
