/*
 * join.h - sluice join: makes the run of all its parts, as one process would have written it.
 *
 * Parts that are missing, incomplete or of different runs, and an output directory that is in use,
 * are refused before a file is written. The contents of a file are checked where the joined run has
 * it, so that a part which changes during the join is noticed; with force, also before the old run
 * is removed. A join that fails removes what it has written. The parts are only read.
 */
#ifndef SL_PIPELINE_JOIN_JOIN_H
#define SL_PIPELINE_JOIN_JOIN_H

#include <stdatomic.h>

#include "pipeline/output/output.h"
#include "pipeline/plan/plan.h"
#include "pipeline/results/results.h"
#include "pipeline/run/run.h"

/* --- join ------------------------------------------------------------------------------------- */

struct sl_join_job {
	const char *const *in; /* n directories */
	size_t n;
	const char *to; /* the directory of the run */
	bool force;     /* replace the run that is there */
	const atomic_int *stop;
	/* Called once, when the run is written. */
	void (*results)(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
		const struct sl_session *session);
	void *ctx;
};

/* Returns the status of the checks of the configuration, or the failure of the join. */
enum sl_status sl_join(const struct sl_join_job *job);

/* --- parts ------------------------------------------------------------------------------------ */

/*
 * The parts that sluice join is given: finds their directories and reads them.
 *
 * All parts must be of one run: the same configuration, rules version and number of parts. What the
 * parts say is checked here; whether they are all there, and whether their files are, in
 * join.h.
 */

struct sl_joined_part {
	char path[SL_PATH_BYTES];
	struct sl_part part;
	struct sl_manifest manifest;
	struct sl_part_times times;
};

struct sl_joined_parts {
	struct sl_joined_part *at; /* n parts by ascending number; each number once */
	size_t n, capacity;
	uint64_t of;                                   /* parts of the run */
	struct sl_existing_run first;                  /* the run.json of at[0] */
	const char *setting[SL_EXISTING_RUN_SETS_MAX]; /* "key=value" that config leaves out */
	size_t n_settings;
	const char *deflate;       /* backend that compresses on the host; NULL if missing */
	char *members;             /* of run.json of at[0]: for struct sl_parts_origin */
	struct sl_session session; /* sums over the parts; seconds: the longest */
};

/*
 * Finds and reads the parts in n directories: each is the directory of a part, or has directories
 * of parts (--out of sluice run --part). The caller frees *parts, also after a failure.
 * SL_BAD_INPUT if a part is damaged or of another run; SL_USAGE if a part is given twice.
 */
enum sl_status sl_parts_open(const char *const *in, size_t n, struct sl_joined_parts *parts);
void sl_parts_free(struct sl_joined_parts *parts);

/* --- completeness ----------------------------------------------------------------------------- */

/*
 * Checks that parts are one whole run: every batch once, every file undamaged.
 *
 * A stop rule is evaluated here, over the batches of all parts in order, as one process does after
 * each commit. Batches after the one that meets it are no part of the run; their parts may be
 * incomplete or missing.
 */

/*
 * Moves the lines of the batches of the run from the manifests of the parts to *all, in order: the
 * manifest.n lines of the first part, then those of the next one. Lines after the end of the run
 * are left out. The caller frees *all, also after a failure. SL_BAD_INPUT if batches are missing;
 * the message names the parts.
 */
enum sl_status sl_parts_collect(
	struct sl_joined_parts *parts, const struct sl_plan *plan, struct sl_manifest *all);

/* SL_STOPPED if *stop is other than 0. */
enum sl_status sl_join_check_stop(const atomic_int *stop);

/* --- joined_files ----------------------------------------------------------------------------- */

/*
 * Takes over the files of the batches of parts into the directory of the whole
 * run.
 *
 * A file is linked if both directories are on one file system, and copied otherwise. A link is safe
 * because no file of a batch is ever changed: files are replaced and removed by name.
 */

/*
 * SL_OUTPUT_IN_USE if `to` is the directory of one of the parts, and SL_DISK if its file system has
 * too little space for files that must be copied and for the joined file. `to` need not exist.
 */
enum sl_status sl_joined_files_check(const struct sl_joined_parts *parts,
	const struct sl_plan *plan, const struct sl_manifest *all);

/*
 * Links or copies the files of all batches to dir, which is locked, and then reads them there:
 * SL_BAD_INPUT if one of them differs from its manifest, SL_OUTPUT_IN_USE if a run of a part is in
 * progress. The links are durable after the next commit of a file in dir. dir = NULL: only reads the
 * files of the parts.
 */
enum sl_status sl_joined_files_take(const struct sl_joined_parts *parts, const struct sl_plan *plan,
	const struct sl_manifest *all, const struct sl_dir *dir, const atomic_int *stop);

/* --- part_times ------------------------------------------------------------------------------- */

/* What run.json of a part says about its session and its machine. */

/*
 * Sets *times, and adds the measurements of the part's last session to *sum; sum->seconds becomes
 * those of the longest. A part that was killed after its last batch has no times.
 */
void sl_part_times_add(
	const struct sl_existing_run *run, struct sl_part_times *times, struct sl_session *sum);

/*
 * Reads the members machine to primitives of run.json, as text, whose checksum was checked. The
 * caller frees *members with sl_memory_give(SL_HOST). SL_BAD_INPUT if they are missing.
 */
enum sl_status sl_part_members_read(const struct sl_dir *dir, char **members);

#endif
