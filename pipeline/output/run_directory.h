/*
 * run_directory.h - starts, resumes or replaces the run in an output directory, and finishes it.
 *
 *	LOCK            held by the process that writes here
 *	run.json        configuration, provenance, results; state "running" until the end
 *	manifest.jsonl  a line per committed batch
 *	NAME_000000.h5  ... a file per batch
 *	NAME_000000.bins ... beside each, with its tallies by bins, if there are any
 *	NAME.mcpl       all lists of batches as one, where they are joined (merged_list.h)
 *	NAME.xdmf       side-car for ParaView, where the columns allow it
 *	NAME.tallies    HDF5: tallies by bins over all batches, where the other files are HDF5
 *	NAME.png        the image of the run, where it makes one
 *	NAME.image.h5   and its numbers
 */
#ifndef SL_PIPELINE_OUTPUT_RUN_DIRECTORY_H
#define SL_PIPELINE_OUTPUT_RUN_DIRECTORY_H

#include "pipeline/report/report.h"

enum sl_start {
	SL_START_NEW,    /* refused when there is a run already */
	SL_START_RESUME, /* keeps what is committed and whole, removes what is not */
	SL_START_FORCE   /* removes the files of the run that is there */
};

/*
 * Opens and locks the plan's directory and brings it into a state that the run can go on from.
 * *done are the batches that need not be computed again. Both are the caller's to close and free,
 * also after a failure.
 */
enum sl_status sl_output_open(const struct sl_workspace *w, enum sl_start start, struct sl_dir *dir,
	struct sl_manifest *done);

/*
 * Sets *batch to the particles per batch of the run in the output directory of config; 0 if there is
 * no run. Fails like the reading of run.json.
 */
enum sl_status sl_output_batch(const struct sl_config *config, uint64_t *batch);

/*
 * Sets *n to the number of the plan's batches that need not be computed: a run in its directory has
 * committed them, or has met its stop rule before them.
 */
enum sl_status sl_output_done(const struct sl_plan *plan, uint64_t *n);

/*
 * After a run that ended in state: the manifest in order, the image (of one that is done), the
 * side-car, run.json. *m is read anew.
 */
enum sl_status sl_output_finish(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_session *session, const char *state, struct sl_manifest *m);

#endif
