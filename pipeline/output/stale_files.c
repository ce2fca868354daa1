/* stale_files.c - see stale_files.h. */
#include "pipeline/output/stale_files.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/plan/file_names.h"
#include "pipeline/output/existing_run.h"
#include "pipeline/output/merged_list.h"
#include "pipeline/output/run_directory.h"
#include "pipeline/run/batch_file.h"
#include "stages/inputs/input_reader.h"

struct sl_stale_files sl_stale_files_for(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *keep)
{
	return (struct sl_stale_files){.run = plan->config.run.name,
		.format = plan->format,
		.dir = dir,
		.keep = keep,
		.image = plan->config.output.image,
		.joined = plan->config.output.joined};
}

/* Removes a file; with s->inputs, only fails if it is one of the input files. */
static enum sl_status remove_file(const struct sl_stale_files *s, const char *name)
{
	bool is_input;

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
 * Is name RUN_NUMBER with the suffix, or that with .part? Sets *batch to the number. Numbers have
 * six digits or more (file_names.c); more than 18 would not fit in *batch.
 */
static bool has_suffix(
	const struct sl_stale_files *s, const char *name, const char *suffix, uint64_t *batch)
{
	size_t digits;

	if (strncmp(name, s->run, strlen(s->run)) != 0 || name[strlen(s->run)] != '_')
		return false;
	name += strlen(s->run) + 1;
	digits = strspn(name, "0123456789");
	*batch = strtoull(name, NULL, 10);
	name += digits;
	if (digits < 6 || digits > 18 || strncmp(name, suffix, strlen(suffix)) != 0)
		return false;
	name += strlen(suffix);
	return *name == '\0' || strcmp(name, ".part") == 0;
}

/* Is name a file of a batch of the run, complete or .part? Sets *batch to its number. */
static bool is_batch_file(const struct sl_stale_files *s, const char *name, uint64_t *batch)
{
	return has_suffix(s, name, s->format->suffix, batch) ||
	       has_suffix(s, name, SL_HISTOGRAM_SUFFIX, batch);
}

/* For bsearch() in the lines of a manifest. */
static int by_batch(const void *number, const void *line)
{
	uint64_t a = *(const uint64_t *)number, b = ((const struct sl_manifest_line *)line)->batch;

	return (a > b) - (a < b);
}

/* Removes name if it is a file of a batch, and no line of s->keep has that name. */
static enum sl_status remove_orphan(void *ctx, const char *name)
{
	const struct sl_stale_files *s = (const struct sl_stale_files *)ctx;
	const struct sl_manifest_line *line = NULL;
	uint64_t batch;

	if (!is_batch_file(s, name, &batch))
		return SL_OK;
	if (s->keep->n > 0) /* without lines, line is NULL, which bsearch() must not get */
		line = (const struct sl_manifest_line *)bsearch(
			&batch, s->keep->line, s->keep->n, sizeof(*s->keep->line), by_batch);
	if (line && (strcmp(line->file, name) == 0 || strcmp(line->bins_file, name) == 0))
		return SL_OK;
	return remove_file(s, name);
}

enum sl_status sl_stale_files_remove_orphans(struct sl_stale_files *s)
{
	char part[SL_FILE_NAME_BYTES];

	SL_TRY(remove_file(s, "run.json.part"));
	SL_TRY(remove_file(s, "manifest.jsonl.part"));
	snprintf(part, sizeof(part), "%.200s%s.part", s->run, s->format->suffix);
	SL_TRY(remove_file(s, part)); /* of the merged list */
	return sl_dir_each(s->dir, remove_orphan, s);
}

/* The number of side files that a run may have; those of the image are the last. */
static int side_files(bool image)
{
	return image ? SL_SIDE_COUNT : SL_SIDE_IMAGE;
}

/* Removes all files with names of the run: batches, side files, merged list. */
static enum sl_status remove_named(struct sl_stale_files *s)
{
	char name[SL_FILE_NAME_BYTES];

	SL_TRY(sl_stale_files_remove_orphans(s));
	for (int i = 0; i < side_files(s->image); i++) {
		sl_side_file_name(s->run, (enum sl_side_file)i, name);
		SL_TRY(remove_file(s, name));
	}
	sl_merged_list_name(s->run, s->format, name);
	return s->joined ? remove_file(s, name) : SL_OK;
}

/*
 * Removes the files of the run that is there, which may have another name or format than the plan's.
 * Names decide, not the lines of its manifest: a manifest could name any file of the user.
 */
static enum sl_status remove_existing_run(
	const struct sl_stale_files *plan, const struct sl_existing_run *existing)
{
	struct sl_stale_files s = *plan;

	if (!existing->name || !existing->format)
		return SL_OK;
	s.run = existing->name;
	s.format = existing->format;
	s.image = existing->image;
	s.joined = existing->joined;
	return remove_named(&s);
}

/* run.json is removed last: after an interrupted removal, --force can find the names again. */
enum sl_status sl_stale_files_remove_run(struct sl_stale_files *s)
{
	struct sl_existing_run existing;
	enum sl_status status = SL_OK;
	bool exists;

	SL_TRY(sl_file_exists(s->dir, "run.json", &exists));
	if (exists)
		status = sl_existing_run_read(s->dir, &existing);
	if (exists && status == SL_OK) {
		status = remove_existing_run(s, &existing);
		sl_existing_run_free(&existing);
	}
	if (status != SL_BAD_INPUT) /* a damaged run.json has no names to go by */
		SL_TRY(status);
	SL_TRY(remove_named(s));
	SL_TRY(remove_file(s, "manifest.jsonl"));
	return remove_file(s, "run.json");
}

/* Whether name is one that the run gives to a file, or that name with ".part" after it. */
static bool has_name(const char *name, const char *of_run)
{
	size_t n = strlen(of_run);

	return strncmp(name, of_run, n) == 0 && (name[n] == '\0' || strcmp(name + n, ".part") == 0);
}

static enum sl_status refuse_used(void *ctx, const char *name)
{
	const struct sl_stale_files *s = (const struct sl_stale_files *)ctx;
	size_t n = strlen(name);
	bool part = n > 5 && strcmp(name + n - 5, ".part") == 0;
	char other[SL_FILE_NAME_BYTES];
	uint64_t batch;
	bool taken = is_batch_file(s, name, &batch) || has_name(name, "run.json") ||
	             has_name(name, "manifest.jsonl");

	for (int i = 0; i < side_files(s->image); i++) {
		sl_side_file_name(s->run, (enum sl_side_file)i, other);
		taken = taken || has_name(name, other);
	}
	sl_merged_list_name(s->run, s->format, other);
	taken = taken || (s->joined && has_name(name, other));
	/* Parts in the directory of a killed run are its own: it ended before it wrote run.json. */
	if (!taken || (part && s->dir->interrupted))
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/%s: the file exists (the run needs this name, and no run.json says that a run "
		"made the file); move it away, or choose another --out or run.name",
		s->dir->path, name);
}

enum sl_status sl_stale_files_check(const struct sl_plan *plan, const struct sl_dir *dir)
{
	struct sl_stale_files s = sl_stale_files_for(plan, dir, NULL);

	return sl_dir_each(dir, refuse_used, &s);
}
