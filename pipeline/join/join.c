/* join.c - see join.h. */
#include "pipeline/join/join.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/report/tallies/tallies.h"
#include "primitives/files/files.h"

/*
 * Makes the plan of the whole run in the directory `to`: what the parts say of a directory does not
 * count.
 */
static enum sl_status make_plan(
	const struct sl_joined_parts *parts, const char *to, struct sl_plan **plan)
{
	struct sl_existing_run whole = parts->first;

	*plan = NULL;
	whole.part = (struct sl_part){.of = 0};
	whole.deflate = parts->deflate; /* on the host, also of parts that a device compressed */
	SL_TRY(sl_existing_run_plan(&whole, parts->setting, parts->n_settings, plan));
	if (strlen(to) >= sizeof((*plan)->to))
		return sl_fail(SL_USAGE, "%s: the path is too long; choose a shorter --out", to);
	snprintf((*plan)->to, sizeof((*plan)->to), "%s", to);
	return SL_OK;
}

/* What was in the file system before this join. */
struct before {
	bool directory, lock, run;
};

static enum sl_status look_before(const char *to, struct before *before)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};

	*before = (struct before){.lock = false};
	SL_TRY(sl_dir_exists(to, &before->directory));
	if (!before->directory)
		return SL_OK;
	SL_TRY(sl_dir_open(to, false, &dir));
	SL_TRY(sl_file_exists(&dir, "LOCK", &before->lock));
	return sl_file_exists(&dir, "run.json", &before->run);
}

/* Takes over the files, then the manifest, and makes the files of the whole run. */
static enum sl_status fill(const struct sl_join_job *job, const struct sl_joined_parts *parts,
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *all,
	struct sl_manifest *written)
{
	SL_TRY(sl_joined_files_take(parts, w->plan, all, dir, job->stop));
	SL_TRY(sl_manifest_write(dir, all));
	SL_TRY(sl_join_check_stop(job->stop));
	SL_TRY(sl_output_settle(w, dir, all->n, written));
	return sl_output_finish(w, dir, &parts->session, "done", written);
}

/*
 * Closes the directory after a failure. LOCK, run.json and the directory are removed if this join
 * has made them: run.json can exist although its commit has failed, if only the fsync of the
 * directory did.
 */
static void leave(const struct sl_plan *plan, struct sl_dir *dir, const struct before *before)
{
	if (dir->lock >= 0 && !before->run)
		(void)sl_file_remove(dir, "run.json");
	if (dir->lock >= 0 && !before->lock)
		(void)sl_file_remove(dir, "LOCK");
	sl_dir_close(dir);
	if (!before->directory)
		(void)sl_dir_remove(plan->to);
}

/*
 * Writes the run in *dir, which is closed after a failure. Until it is open, nothing in it is this
 * join's. The message of a failure stays, also if a removal fails.
 */
static enum sl_status write_in(const struct sl_join_job *job, const struct sl_joined_parts *parts,
	struct sl_workspace *w, const struct sl_manifest *all, struct sl_dir *dir,
	struct sl_manifest *written)
{
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest none = {.line = NULL};
	struct sl_stale_files stale;
	struct sl_failure failure;
	struct before before;
	enum sl_status s;
	bool opened;

	SL_TRY(look_before(w->plan->to, &before));
	s = sl_output_open(w, NULL, job->force ? SL_START_FORCE : SL_START_NEW, dir, &none);
	opened = s == SL_OK;
	if (opened)
		s = fill(job, parts, w, dir, all, written);
	failure = sl_failure_keep(s);
	if (opened && s != SL_OK) {
		/* all with names that were free before, or of a replaced run */
		stale = sl_stale_files_for(w->plan, dir, NULL);
		(void)sl_stale_files_remove_run(&stale);
	}
	if (s != SL_OK)
		leave(w->plan, dir, &before);
	return sl_failure_first(&failure, SL_OK);
}

static enum sl_status write_run(const struct sl_join_job *job, const struct sl_joined_parts *parts,
	struct sl_workspace *w, const struct sl_manifest *all)
{
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest written = {.line = NULL};
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_results results;

	SL_TRY(write_in(job, parts, w, all, &dir, &written));
	job->results(job->ctx, w, &written, &parts->session);
	sl_results_make(&written, w->plan->choices.stop_rule.counts, &results);
	return sl_checks(w->plan, &results);
}

static enum sl_status join_plan(const struct sl_join_job *job, struct sl_joined_parts *parts,
	const struct sl_plan *plan, struct sl_manifest *all)
{
	SL_CLOSED_BY(sl_host_give) void *times = NULL;
	SL_CLOSED_BY(sl_workspace_give) struct sl_workspace *w = NULL;
	struct sl_parts_origin origin = {.members = parts->members, .n_parts = parts->n};

	SL_TRY(sl_parts_collect(parts, plan, all));
	SL_TRY(sl_joined_files_check(parts, plan, all));
	if (job->force) /* a run is only replaced if its replacement is undamaged */
		SL_TRY(sl_joined_files_take(parts, plan, all, NULL, job->stop));
	SL_TRY(sl_workspace_open(plan, &w));
	SL_TRY(sl_memory_get(SL_HOST, sl_size_mul(parts->n, sizeof(*origin.part)), &times));
	origin.part = (struct sl_part_times *)times;
	for (size_t i = 0; i < parts->n; i++)
		origin.part[i] = parts->at[i].times;
	w->origin = &origin;
	return write_run(job, parts, w, all);
}

enum sl_status sl_join(const struct sl_join_job *job)
{
	SL_CLOSED_BY(sl_parts_free) struct sl_joined_parts parts = {.n = 0};
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest all = {.line = NULL};
	struct before before = {.run = false};

	SL_TRY(sl_parts_open(job->in, job->n, &parts));
	SL_TRY(make_plan(&parts, job->to, &plan));
	if (!job->force) /* before the files of the parts are read, which can take long */
		SL_TRY(look_before(job->to, &before));
	if (before.run)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a run already (it would be overwritten); use --force to replace it, or "
			"another --out",
			job->to);
	return join_plan(job, &parts, plan, &all);
}
