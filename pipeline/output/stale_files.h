/*
 * stale_files.h - the files of a directory that are a run's by their names: looked for, and removed.
 *
 * What is looked for and what is removed is found by the same code.
 */
#ifndef SL_PIPELINE_OUTPUT_STALE_FILES_H
#define SL_PIPELINE_OUTPUT_STALE_FILES_H

#include "pipeline/results/manifest.h"
#include "pipeline/plan/plan.h"

struct sl_stale_files {
	const char *run;
	const struct sl_format *format;
	const struct sl_dir *dir;
	const struct sl_manifest *keep; /* files of its lines are no orphans */
	bool image, joined;             /* the run makes one */
	const struct sl_inputs
		*inputs; /* if set: remove nothing; fail if an input file would be removed */
};

/* Of the plan's own names, where nothing is spared. */
struct sl_stale_files sl_stale_files_for(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *keep);

/* Removes files of batches that no line of keep vouches for: a run was cut off there. */
enum sl_status sl_stale_files_remove_orphans(struct sl_stale_files *s);

/*
 * Removes all that is of the plan's run, of the run that is there, and of those lines.
 * SL_OUTPUT_IN_USE where a file that is to be spared would go.
 */
enum sl_status sl_stale_files_remove_run(struct sl_stale_files *s, const struct sl_manifest *lines);

/* SL_OUTPUT_IN_USE where a name of the plan's run is taken: it must not find that half done. */
enum sl_status sl_stale_files_check(const struct sl_plan *plan, const struct sl_dir *dir);

#endif
