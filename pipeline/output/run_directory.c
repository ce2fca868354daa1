/* run_directory.c - decides which files of a run directory are kept, and writes the final ones. */
#include "pipeline/output/output.h"

#include <string.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/plan/plan.h"
#include "pipeline/report/report.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/results/results.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"

/* A file that does not exist has the contents of an empty one. */
static enum sl_status get_contents(
	const struct sl_dir *dir, const char *name, struct sl_file_contents *c)
{
	bool exists;

	*c = (struct sl_file_contents){.bytes = 0};
	SL_TRY(sl_file_exists(dir, name, &exists));
	return exists ? sl_file_check(dir, name, &c->bytes, &c->crc) : SL_OK;
}

/*
 * Sets *same to whether a file has the contents that were written. A file that is no regular file
 * has not; a failure of the disk is an error, because the file may be good.
 */
static enum sl_status has_contents(
	const struct sl_dir *dir, const char *name, struct sl_file_contents written, bool *same)
{
	struct sl_file_contents now;
	enum sl_status s = get_contents(dir, name, &now);

	*same = s == SL_OK && now.bytes == written.bytes && now.crc == written.crc;
	return s == SL_BAD_INPUT ? SL_OK : s;
}

/*
 * Sets *readable to whether the file of survivors, whose checksum is right, can be read and has the
 * stated number of rows. It cannot if it was wrong before it was written, by a fault of the memory
 * or of the program: then the batch is computed again, as sl_verify() advises.
 */
static enum sl_status has_survivors(
	const struct sl_dir *dir, const struct sl_manifest_line *l, bool *readable)
{
	uint64_t rows = 0;
	enum sl_status s = sl_survivors_count(dir, l->file.name, &rows);

	*readable = s == SL_OK && rows == l->survivors;
	return s == SL_BAD_INPUT ? SL_OK : s;
}

enum sl_status sl_output_batch_is_complete(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest_line *l, bool *complete)
{
	*complete = sl_batch_file_is_planned(plan, l);
	for (int k = 0; k < SL_BATCH_FILES; k++) {
		const struct sl_committed_file *f = &l->files[k];

		if (*complete && f->name[0])
			SL_TRY(sl_file_exists(dir, f->name, complete));
		if (*complete && f->name[0])
			SL_TRY(has_contents(dir, f->name,
				(struct sl_file_contents){f->bytes, f->crc}, complete));
	}
	return *complete && l->file.name[0] ? has_survivors(dir, l, complete) : SL_OK;
}

/* Removes the lines of batches after the one that met the stop rule; true if there were any. */
static bool cut_after_stop_rule(const struct sl_plan *plan, struct sl_manifest *m)
{
	struct sl_stop_state o =
		sl_stop_rule_state(&plan->choices.stop_rule, plan->recipe.n_batches, m);
	size_t n = m->n;

	while (m->n > 0 && m->line[m->n - 1].batch >= o.batches)
		m->n--;
	return m->n < n;
}

/*
 * Compares the stored configuration with the plan, keeps the lines whose files are complete, and
 * removes all other files of batches that the run could have written before. *done has the kept
 * lines. The cost is two reads of all files, without decompressing HDF5 and npz. If the run is
 * extended, its last batch is kept only if it has run.batch particles.
 */
static enum sl_status resume(const struct sl_plan *plan, const struct sl_dir *dir,
	struct sl_manifest *done, struct sl_resumption *how)
{
	struct sl_stale_files s = sl_stale_files_for(plan, dir, done);
	size_t complete = 0;

	SL_TRY(sl_existing_run_check(dir, plan, how));
	if (how->extended)
		SL_TRY(sl_stale_files_check(plan, dir, how->n_batches));
	if (s.batches.end > how->n_batches)
		s.batches.end = how->n_batches;
	SL_TRY(sl_manifest_read(dir, done));
	for (size_t i = 0; i < done->n; i++) {
		bool keep;

		SL_TRY(sl_output_batch_is_complete(plan, dir, &done->line[i], &keep));
		if (keep)
			done->line[complete++] = done->line[i];
	}
	if (complete < done->n)
		done->in_order = false;
	done->n = complete;
	if (cut_after_stop_rule(plan, done))
		done->in_order = false;
	/* A line is removed before its file, so every line refers to an existing file. */
	if (!done->in_order)
		SL_TRY(sl_manifest_write(dir, done));
	return sl_stale_files_remove_orphans(&s);
}

/*
 * Removes the existing run. If the run reads input files, a first pass removes nothing and fails if
 * one of them would be removed, so that a refusal leaves the directory unchanged.
 */
static enum sl_status replace(const struct sl_plan *plan, const struct sl_dir *dir)
{
	struct sl_stale_files s = sl_stale_files_for(plan, dir, NULL);

	s.inputs = sl_plan_inputs(plan);
	if (s.inputs)
		SL_TRY(sl_stale_files_remove_run(&s));
	s.inputs = NULL;
	return sl_stale_files_remove_run(&s);
}

/*
 * Refuses, resumes or replaces what the directory contains. Without run.json the configuration of
 * the committed batches is unknown, so they can neither be resumed nor be left among those of a new
 * run.
 */
static enum sl_status enter(const struct sl_plan *plan, enum sl_start start,
	const struct sl_dir *dir, struct sl_manifest *done, struct sl_resumption *how)
{
	bool has_run, has_manifest;

	SL_TRY(sl_file_exists(dir, "run.json", &has_run));
	SL_TRY(sl_file_exists(dir, "manifest.jsonl", &has_manifest));
	if (!has_run && has_manifest && start != SL_START_FORCE)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: has a manifest.jsonl but no run.json (the run of these batches is "
			"unknown); choose another --out, or replace them with --force",
			dir->path);
	if (has_run && start == SL_START_NEW)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a run already (it would be overwritten); use --resume to "
			"continue it, --force to replace it, or another --out",
			dir->path);
	if (start == SL_START_FORCE)
		return replace(plan, dir);
	return has_run ? resume(plan, dir, done, how) : sl_stale_files_check(plan, dir, 0);
}

/* Refuses the directory of a part of a run that was divided into another number of parts. */
static enum sl_status refuse_other_parts(void *ctx, const char *name)
{
	const struct sl_plan *plan = (const struct sl_plan *)ctx;
	struct sl_part part;

	if (!sl_part_find(name, &part) || part.of == plan->config.part.of)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s: cannot be made, because %s is in the same directory (parts of a run can only be "
		"joined if all have the same N); use --part I/%lu, choose another --out, or remove "
		"the other parts",
		plan->to, name, part.of);
}

/* Parts of one run can share a directory: each has its own directory there. */
static enum sl_status check_other_parts(const struct sl_plan *plan)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	char folder[SL_PATH_BYTES];

	sl_path_split(plan->to, folder);
	SL_TRY(sl_dir_open(folder, true, &dir));
	return sl_dir_each(&dir, refuse_other_parts, (void *)plan);
}

/*
 * A joined file that an earlier session of the run has made stays if this one makes none; run.json
 * then still names it, so that it is verified, and is removed if the run is extended.
 */
static enum sl_status find_list(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_resumption *how)
{
	char name[SL_FILE_NAME_BYTES];

	w->keeps_list = false;
	if (!how->joined || how->extended || !w->plan->choices.format->suffix[0])
		return SL_OK;
	sl_merged_list_name(w->plan->config.run.name, w->plan->choices.format, name);
	return sl_file_exists(dir, name, &w->keeps_list);
}

enum sl_status sl_output_lock(const struct sl_plan *plan, struct sl_dir *dir)
{
	if (sl_plan_is_part(plan))
		SL_TRY(check_other_parts(plan));
	SL_TRY(sl_dir_open(plan->to, true, dir));
	dir->lazy = plan->config.output.durable != SL_DURABLE_BATCH;
	return sl_dir_lock(dir);
}

/*
 * run.json is written with the state "running", so that a killed run can be resumed. Then it has
 * the new number of particles, so the files of the shorter run may go. It is durable unless
 * output.durable is never: without it, a failure of the machine would leave batches that cannot be
 * resumed.
 */
enum sl_status sl_output_enter(struct sl_workspace *w, enum sl_start start,
	const struct sl_dir *dir, struct sl_manifest *done)
{
	struct sl_resumption how = {.extended = false};
	struct sl_dir durable;

	SL_TRY(enter(w->plan, start, dir, done, &how));
	SL_TRY(find_list(w, dir, &how));
	durable = *dir;
	durable.lazy = w->plan->config.output.durable == SL_DURABLE_NEVER;
	SL_TRY(sl_report_commit(w, &durable, done, NULL, "running"));
	SL_TRY(get_contents(dir, "run.json", &w->report));
	return how.extended ? sl_stale_files_remove_results(w->plan, dir, how.joined) : SL_OK;
}

/* Opens the directory of a run for reading. *exists is false, and *dir closed, if there is none. */
static enum sl_status open_existing(const char *path, struct sl_dir *dir, bool *exists)
{
	*dir = (struct sl_dir){.fd = -1, .lock = -1};
	SL_TRY(sl_dir_exists(path, exists));
	return *exists ? sl_dir_open(path, false, dir) : SL_OK;
}

/* Called before the plan is made, so only the configuration says where the run would be. */
enum sl_status sl_output_batch(const struct sl_config *config, uint64_t *batch)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run existing = {.tree = NULL};
	char to[SL_TEXT_BYTES];
	struct sl_existing_sizes sizes;
	bool exists;

	*batch = 0;
	sl_output_directory_name(config, to);
	SL_TRY(open_existing(to, &dir, &exists));
	if (exists)
		SL_TRY(sl_file_exists(&dir, "run.json", &exists));
	if (!exists)
		return SL_OK;
	SL_TRY(sl_existing_run_read(&dir, &existing));
	SL_TRY(sl_existing_run_sizes(&existing, &sizes));
	*batch = sizes.batch <= (uint64_t)1 << 31 ? sizes.batch : 0; /* run.json can be damaged */
	return SL_OK;
}

/* The files of these batches are not read: the result is for an estimate of the disk space. */
enum sl_status sl_output_done(const struct sl_plan *plan, uint64_t *n)
{
	const struct sl_batch_range batches = sl_plan_batches(plan);
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest m = {.line = NULL};
	bool exists;

	*n = 0;
	SL_TRY(open_existing(plan->to, &dir, &exists));
	if (!exists)
		return SL_OK;
	SL_TRY(sl_manifest_read(&dir, &m));
	if (m.n <= batches.end - batches.first)
		*n = sl_stop_rule_state(&plan->choices.stop_rule, plan->recipe.n_batches, &m).met
		             ? plan->recipe.n_batches
		             : m.n;
	return SL_OK;
}

/*
 * Sums the histograms of all batches, for run.json, and writes the sums as HDF5 if the run does so.
 */
static enum sl_status commit_histograms(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	SL_CLOSED_BY(sl_host_give) void *file = NULL;
	char name[SL_FILE_NAME_BYTES];
	size_t bytes;

	if (sl_counter_words(&w->plan->recipe) == 0 || m->n == 0)
		return SL_OK;
	SL_TRY(sl_tally_sums_read(&w->plan->recipe, dir, m, &w->tallies));
	if (!sl_tallies_file_name(w->plan, name))
		return SL_OK;
	SL_TRY(sl_tallies_file(w, name, &file, &bytes));
	return sl_file_commit(dir, name, file, bytes, true);
}

static enum sl_status manifest_changed(const struct sl_dir *dir)
{
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/manifest.jsonl was changed by another program during the run; let no other program "
		"change the folder, and use --resume to compute again what is lost",
		dir->path);
}

/* The run has appended all lines of the manifest: none is missing, damaged or too many. */
enum sl_status sl_output_settle(
	struct sl_workspace *w, const struct sl_dir *dir, uint64_t committed, struct sl_manifest *m)
{
	struct sl_stale_files s = sl_stale_files_for(w->plan, dir, m);
	bool cut;

	SL_TRY(sl_dir_check(dir));
	SL_TRY(sl_manifest_read(dir, m));
	if (m->n != committed || m->damaged > 0)
		return manifest_changed(dir);
	/*
	 * The stop rule needs batches in order: a batch that was missing can be the one that met
	 * it.
	 */
	cut = cut_after_stop_rule(w->plan, m);
	if (cut || !m->in_order)
		SL_TRY(sl_manifest_write(dir, m));
	SL_TRY(get_contents(dir, "manifest.jsonl", &w->manifest));
	return cut ? sl_stale_files_remove_orphans(&s) : SL_OK;
}

/* Is all what this run has written? *same: so is run.json; if not, it is written again. */
static enum sl_status check_unchanged(
	const struct sl_workspace *w, const struct sl_dir *dir, bool *same)
{
	SL_TRY(sl_dir_check(dir));
	SL_TRY(has_contents(dir, "manifest.jsonl", w->manifest, same));
	if (!*same)
		return manifest_changed(dir);
	return has_contents(dir, "run.json", w->report, same);
}

/*
 * The image and the joined file need all batches, so an unfinished run has neither. run.json is the
 * last file, because its state says that all others are complete, and durable unless output.durable
 * is never.
 */
enum sl_status sl_output_finish(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_session *session, const char *state, const struct sl_manifest *m)
{
	const struct sl_plan *plan = w->plan;
	struct sl_dir durable = *dir; /* for run.json, if all other files are flushed at the end */
	bool same;

	if (strcmp(state, "done") == 0) {
		if (plan->choices.image.width > 0)
			SL_TRY(sl_add_context(sl_image_files_commit(w, dir, m), "the image"));
		SL_TRY(sl_merged_list_commit(w, dir, m));
	}
	SL_TRY(sl_side_text_commit(w, SL_SIDE_XDMF, dir, m));
	SL_TRY(commit_histograms(w, dir, m));
	SL_TRY(sl_side_text_commit(w, SL_SIDE_STEPS, dir, m));
	SL_TRY(check_unchanged(w, dir, &same));
	if (plan->config.output.durable == SL_DURABLE_END) {
		SL_TRY(sl_dir_sync(dir));
		durable.lazy = false;
	}
	w->at.reported = sl_now_ns();
	SL_TRY(sl_report_commit(w, &durable, m, session, state));
	if (same)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/run.json was changed or removed by another program during the run (it was written "
		"again, and no batch is lost); let no other program change the folder",
		dir->path);
}
