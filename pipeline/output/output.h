/* output.h - the files of a run that are made of all batches, and its directory */
#ifndef SL_PIPELINE_OUTPUT_OUTPUT_H
#define SL_PIPELINE_OUTPUT_OUTPUT_H

#include <stdio.h>

#include "pipeline/config/config.h"
#include "pipeline/output/merge/merge.h"
#include "pipeline/plan/plan.h"
#include "pipeline/results/results.h"
#include "pipeline/run/run.h"
#include "primitives/files/files.h"

/* --- existing_run ----------------------------------------------------------------------------- */

/*
 * Reads the run that a directory already holds, from its run.json.
 *
 * --resume compares that run with the plan, --force removes its files by its own name and format,
 * and verify makes its plan again.
 */

struct sl_yaml;

struct sl_existing_run {
	struct sl_yaml *tree;           /* owns the texts below */
	const char *config;             /* the configuration, as far as it determines the results */
	const char *name;               /* of the run; NULL if missing, or no name of a run */
	const char *state;              /* "done", "stopped" or "running"; NULL if missing */
	const struct sl_format *format; /* NULL if this program does not support it */
	bool image;                     /* the run makes an image */
	bool joined;                    /* the run makes a joined file */
	struct sl_part part;            /* of = 0: the whole run */
	const char *deflate;            /* the backend that compressed its files */
	uint64_t rules_version;
	uint64_t particles; /* committed when run.json was written */
	uint64_t
		session_particles; /* computed by the last session, and its time in seconds; 0: it */
	double session_seconds;    /* has not ended */
};

/*
 * Reads run.json in dir. SL_BAD_INPUT if no run can have written it. After success the caller frees
 * f with sl_existing_run_free().
 */
enum sl_status sl_existing_run_read(const struct sl_dir *dir, struct sl_existing_run *f);
void sl_existing_run_free(struct sl_existing_run *f);

/* The size of a run and its seed, as its stored configuration has them. */
struct sl_existing_sizes {
	uint64_t particles, batch; /* 0 if it is not stored */
	uint64_t n_batches;        /* of the whole run, at least 1 */
	bool has_seed;             /* a configuration that is not damaged has one */
	uint64_t seed;
	bool stops;         /* it has a stop rule, so particles is an upper limit */
	uint64_t max_steps; /* transport.max_steps */
};

/* Reads the sizes. Fails only for lack of memory. */
enum sl_status sl_existing_run_sizes(
	const struct sl_existing_run *f, struct sl_existing_sizes *sizes);

/*
 * Makes the plan of the run again, from the stored configuration, in which n_sets settings (at most
 * SL_EXISTING_RUN_SETS_MAX) replace values. f->deflate compresses, if it is a host backend of this
 * build: a joined file that is written in another order has its bytes. The caller frees *plan, also
 * after a failure.
 */
enum { SL_EXISTING_RUN_SETS_MAX = SL_SETS_MAX + 2 };
enum sl_status sl_existing_run_plan(const struct sl_existing_run *f, const char *const *set,
	size_t n_sets, struct sl_plan **plan);

/*
 * Compares two configurations, also their run.particles if particles is true: both are written by
 * the same code, so equal settings give equal texts. If they differ, sets of_a and of_b to the text
 * of each around the first difference.
 */
enum { SL_DIFFERENCE_BYTES = 82 };
bool sl_existing_run_differs(const char *a, const char *b, bool particles,
	char of_a[SL_DIFFERENCE_BYTES], char of_b[SL_DIFFERENCE_BYTES]);

/*
 * SL_OK if resuming the run in dir with the plan gives the same bytes as an uninterrupted run. The
 * plan may have more particles, which *how says. Otherwise SL_OUTPUT_IN_USE, and the message states
 * the first difference.
 */
struct sl_resumption {
	bool extended;      /* the plan has more particles than the run in dir */
	uint64_t n_batches; /* of that run, or of the whole run if it is a part */
	bool joined;        /* that run makes a joined file, with or without the plan */
};
enum sl_status sl_existing_run_check(
	const struct sl_dir *dir, const struct sl_plan *plan, struct sl_resumption *how);

/* --- image_files ------------------------------------------------------------------------------ */

/*
 * Writes the image of a finished run: NAME.png to look at, NAME.image.h5 with
 * numbers.
 */

/*
 * Adds the batches of m that the sum lacks, from their files in dir, and commits both image files.
 */
enum sl_status sl_image_files_commit(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

/* --- merged_list ------------------------------------------------------------------------------ */

/*
 * One file of a whole run, such as NAME.mcpl or NAME.h5, merged from the batch
 * files.
 *
 * The list is written once, when the run is done. Appending after each batch would need in-place
 * changes of the header (count, sum, checksum), serial writes of batches, and a rewrite of all
 * later batches when one is damaged. With a single write, a killed run leaves only complete files,
 * and
 * --resume gives the same bytes. The cost is twice the disk space.
 *
 * Of a list of records without output.order: run, output.sample and output.limit, records and gzip
 * members are copied unchanged; only the header is new. The header counts all particles of the
 * list, and stat:sum:sluice_generated all particles that were generated. A file of columns is
 * compressed again.
 */

/*
 * Writes the list, replaces an existing one, and sets w->joined. Does nothing if the configuration
 * does not ask for a list. SL_CHECK_FAILED if a file of a batch does not match the manifest.
 */
enum sl_status sl_merged_list_commit(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

/* Sends the list of at least one batch to sink, and sets *list. */
enum sl_status sl_merged_list_send(const struct sl_ordered_list *l, sl_byte_sink *sink,
	void *context, struct sl_joined_list *list);

/* SL_CHECK_FAILED if the existing list differs from the one that the batch files give. */
enum sl_status sl_merged_list_check(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m);

/* --- run_directory ---------------------------------------------------------------------------- */

/*
 * Starts, resumes or replaces the run in an output directory, and finishes it.
 *
 * 	LOCK              held by the process that writes in the directory
 * 	run.json          configuration, provenance, results; state "running" until the end
 * 	manifest.jsonl    a line per committed batch
 * 	NAME_000000.h5    a file of survivors per batch
 * 	NAME_000000.bins  a file of histograms per batch, if the run has histograms
 * 	NAME_000000.order sort keys of a batch, if the joined file needs them (batch_file.h)
 * 	NAME.mcpl         all lists of batches as one, with output.joined (merged_list.c)
 * 	NAME.xdmf         lets ParaView open the openPMD files, if their columns allow it
 * 	NAME.steps.csv    the values of each step of filters, as a table
 * 	NAME.tallies      the histograms of the run in HDF5, if the other files are HDF5
 * 	NAME.png          the image of the run, if it makes one
 * 	NAME.image.h5     the numbers of the image.
 */

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

/* --- shared_directory ------------------------------------------------------------------------- */

/*
 * Opens the output directory of a run, under MPI on all ranks.
 *
 * Rank 0 opens and locks it as for one process; the others then write their .part files in it.
 */

/*
 * Opens and locks the plan's directory, and prepares it as start says. *done gets the batches that
 * need not be computed. The caller closes *dir and frees *done, also after a failure.
 * SL_OUTPUT_IN_USE if the directory has other contents than start expects. ranks: NULL, or all
 * ranks call it and return the same status; ranks other than 0 get nothing in *done. SL_USAGE if
 * one of them sees another directory of that name, because their file systems differ; then no file
 * of a run is changed.
 */
enum sl_status sl_output_open(struct sl_workspace *w, struct sl_ranks *ranks, enum sl_start start,
	struct sl_dir *dir, struct sl_manifest *done);

/* --- stale_files ------------------------------------------------------------------------------ */

/*
 * Finds the files that belong to a run by their names, and removes them.
 *
 * 	orphans   files of batches without a manifest line, and .part files: a session was killed
 * 	          between the rename of a file and its line
 * 	the run   with --force: all files of the existing run and all names that the new run uses
 * 	check     a new run: no name that it uses may exist, so that no file of others is replaced
 *
 * The same functions name the files for the check and for the removals. Files of batches have the
 * numbers of batches of the run: a file with a larger number is of a user, and is never removed.
 * When a run is extended, its new numbers are checked as those of a new run.
 */

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

/*
 * SL_OUTPUT_IN_USE if a name that the plan's run uses exists. Called before the run writes. first: 0,
 * or the number from which on only files of batches are looked for, which the run in dir did not
 * have.
 */
enum sl_status sl_stale_files_check(
	const struct sl_plan *plan, const struct sl_dir *dir, uint64_t first);

/* --- side_files ------------------------------------------------------------------------------- */

/*
 * Texts on all batches of a run, which are replaced after each session, finished or not:
 *
 *	NAME.xdmf        with which ParaView and VisIt read the openPMD files of a run (xdmf.h); only
 *	                 if their columns can be shown as points
 *	NAME.steps.csv   of filters: a line for each observation, counted from 1, with the values of
 *	                 sl_filter_name()
 */

/* Sets name, of SL_FILE_NAME_BYTES. False if the run has no such file. */
bool sl_side_text_name(const struct sl_plan *plan, enum sl_side_file which, char *name);

/*
 * Writes its text for the batches of the manifest to out. SL_SIDE_STEPS: w->tallies has their sums.
 */
void sl_side_text_write(const struct sl_workspace *w, enum sl_side_file which,
	const struct sl_manifest *m, FILE *out);

/* Commits the file in dir, if the run has one. */
enum sl_status sl_side_text_commit(const struct sl_workspace *w, enum sl_side_file which,
	const struct sl_dir *dir, const struct sl_manifest *m);

#endif
