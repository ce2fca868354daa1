/*
 * run_directory.h - starts, resumes or replaces the run in an output directory, and finishes it.
 *
 *	LOCK              held by the process that writes in the directory
 *	run.json          configuration, provenance, results; state "running" until the end
 *	manifest.jsonl    a line per committed batch
 *	NAME_000000.h5    a file of survivors per batch
 *	NAME_000000.bins  a file of histograms per batch, if the run has histograms
 *	NAME_000000.order sort keys of a batch, if the joined file needs them (order_file.h)
 *	NAME.mcpl         all lists of batches as one, with output.joined (merged_list.h)
 *	NAME.xdmf         lets ParaView open the openPMD files, if their columns allow it
 *	NAME.tallies      the histograms of the run in HDF5, if the other files are HDF5
 *	NAME.png          the image of the run, if it makes one
 *	NAME.image.h5     the numbers of the image
 */
#ifndef SL_PIPELINE_OUTPUT_RUN_DIRECTORY_H
#define SL_PIPELINE_OUTPUT_RUN_DIRECTORY_H

#include "pipeline/report/report.h"

enum sl_start {
	SL_START_NEW,    /* refused if the directory has a run */
	SL_START_RESUME, /* keeps the committed batches whose files are complete, removes the others */
	SL_START_FORCE /* removes the files of the existing run */
};

/*
 * Opens and locks the plan's directory, which is made if it does not exist. The caller closes *dir.
 */
enum sl_status sl_output_lock(const struct sl_plan *plan, struct sl_dir *dir);

/*
 * Prepares the locked directory as start says. *done gets the batches that need not be computed;
 * the caller frees it, also after a failure. SL_OUTPUT_IN_USE if the directory has other contents
 * than start expects.
 */
enum sl_status sl_output_enter(struct sl_workspace *w, enum sl_start start,
	const struct sl_dir *dir, struct sl_manifest *done);

/*
 * Sets *batch to the particles per batch of the run in the output directory of config; 0 if there
 * is no run. Fails like the reading of run.json.
 */
enum sl_status sl_output_batch(const struct sl_config *config, uint64_t *batch);

/*
 * Sets *n to the number of the plan's batches that need not be computed: a run in its directory has
 * committed them, or has met its stop rule before them.
 */
enum sl_status sl_output_done(const struct sl_plan *plan, uint64_t *n);

/*
 * Sets *complete to whether the line describes a batch of the plan and its files in dir have the
 * contents that the line states. All bytes of the files are read.
 */
enum sl_status sl_output_batch_is_complete(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest_line *l, bool *complete);

/*
 * Puts the manifest in order after a session, without the batches after the one that met the stop
 * rule. *m is read from the disk; the caller frees it, also after a failure. committed: the lines
 * that the run has written. SL_OUTPUT_IN_USE if another program has changed the manifest or taken
 * the directory.
 */
enum sl_status sl_output_settle(struct sl_workspace *w, const struct sl_dir *dir,
	uint64_t committed, struct sl_manifest *m);

/*
 * Writes the files of the whole run, whose batches are in m: if state is "done" the image and the
 * merged list; XDMF, histograms, run.json. SL_OUTPUT_IN_USE if another program has changed the
 * manifest or run.json, which is then written all the same.
 */
enum sl_status sl_output_finish(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_session *session, const char *state, const struct sl_manifest *m);

#endif
