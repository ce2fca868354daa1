/*
 * stale_files.h - finds the files that belong to a run by their names, and removes them.
 *
 *	orphans   files of batches without a manifest line, and .part files: a session was killed
 *	          between the rename of a file and its line
 *	the run   with --force: all files of the existing run and all names that the new run uses
 *	check     a new run: no name that it uses may exist, so that no file of others is replaced
 *
 * The same functions name the files for the check and for the removals. Files of batches have the
 * numbers of batches of the run: a file with a larger number is of a user, and is never removed.
 * When a run is extended, its new numbers are checked as those of a new run.
 */
#ifndef SL_PIPELINE_OUTPUT_STALE_FILES_H
#define SL_PIPELINE_OUTPUT_STALE_FILES_H

#include "pipeline/plan/plan.h"
#include "pipeline/results/manifest.h"

struct sl_stale_files {
	const char *run; /* its name, the first part of all file names */
	const struct sl_format *format;
	const struct sl_dir *dir;
	const struct sl_manifest *keep; /* files of these lines are no orphans */
	struct sl_batch_range batches;  /* those that the run can have files of */
	bool image, joined, bins; /* the run makes an image; a joined file; histograms of batches */
	const struct sl_inputs
		*inputs; /* if set: remove nothing; fail if an input file would be removed */
};

/* The files of the plan's run; inputs is NULL. keep may be NULL if no orphans are removed. */
struct sl_stale_files sl_stale_files_for(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *keep);

/* Removes .part files, and files of batches without a line in keep, both only of s->batches. */
enum sl_status sl_stale_files_remove_orphans(struct sl_stale_files *s);

/*
 * Removes the files that were made of all batches, before the plan extends the run: they are those
 * of the shorter run. joined: that run made a joined file.
 */
enum sl_status sl_stale_files_remove_results(
	const struct sl_plan *plan, const struct sl_dir *dir, bool joined);

/*
 * Removes all files with names of the plan's run or of the existing run, and no other file. With
 * s->inputs, removes nothing, and returns SL_OUTPUT_IN_USE if one of the input files would be
 * removed. A caller checks with inputs first, so that it fails before it removes any file.
 */
enum sl_status sl_stale_files_remove_run(struct sl_stale_files *s);

/* SL_OUTPUT_IN_USE if a name that the plan's run uses exists. Called before the run writes. */
enum sl_status sl_stale_files_check(const struct sl_plan *plan, const struct sl_dir *dir);

/* The same for files of batches from number first on, which the run in dir did not have. */
enum sl_status sl_stale_files_check_batches(
	const struct sl_plan *plan, const struct sl_dir *dir, uint64_t first);

#endif
