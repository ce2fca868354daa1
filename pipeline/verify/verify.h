/*
 * verify.h - checks a run on disk against its manifest and its configuration.
 *
 * Checks per batch: size and CRC-32 of the file; the digest of each column, recomputed from the
 * values that a reader gets; rows in key order, equal keys in id order; fate counts that sum to the
 * number of generated particles. If the file has ids, a sample of survivors is recomputed from
 * (seed, id) and compared bit for bit. If ids or key columns are missing, or the format rounds, the
 * first batch is recomputed as a whole and its digests are compared. For particles that are read
 * from files, every batch is recomputed. Then the files made from all batches follow
 * (verify_side_files.c).
 */
#ifndef SL_PIPELINE_VERIFY_VERIFY_H
#define SL_PIPELINE_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdio.h>

#include "pipeline/results/results.h"
#include "pipeline/run/run.h"
#include "primitives/base/status.h"
#include "stages/batch/recipe.h"

/* --- verify ----------------------------------------------------------------------------------- */

/*
 * Verifies the run in directory and prints the counts of checks to out, as JSON or, unless quiet,
 * as text. Stops at the first batch or file that is wrong: SL_CHECK_FAILED or SL_BAD_INPUT.
 */
enum sl_status sl_verify(const char *directory, bool json, bool quiet, FILE *out);

/* --- verify_side_files ------------------------------------------------------------------------ */

/*
 * Checks the files that a run makes from all its batches.
 *
 * NAME.xdmf is made again from the manifest, and NAME.tallies from the histograms of the batches;
 * both must have the same bytes. The numbers of NAME.image.h5 must be the sums over the survivor
 * files; NAME.png is made again from these sums and must have the same bytes. A joined file
 * (output.joined) is compared with the batch files.
 */

/*
 * All batches of the run must be committed, and w->image_sum must contain their pixels if the run
 * has an image. SL_CHECK_FAILED or SL_BAD_INPUT at the first file that is wrong.
 */
enum sl_status sl_verify_side_files(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m);

/* --- verify_table ----------------------------------------------------------------------------- */

/*
 * Compares the survivors of one batch with its line of the manifest, with the
 * order of the keys, and with particles that are computed again.
 *
 * A function returns SL_CHECK_FAILED, with a message about the batch, at the first difference.
 */

/* Returns SL_CHECK_FAILED with a message about a batch: its number, its file and what is wrong. */
SL_PRINTF(2, 3)
enum sl_status sl_verify_wrong(const struct sl_manifest_line *l, const char *format, ...);

/* Compares names and digests of the columns. A rounded column has no digest to compare. */
enum sl_status sl_verify_digests(const struct sl_manifest_line *l, const struct sl_table *t);

/* The table without rounded columns, which cannot be compared bit for bit. */
struct sl_table sl_verify_exact_columns(const struct sl_table *t);

/*
 * Does the table have all fields of the key, so that the order of all rows can be checked? A
 * constant column is stored once and cannot be read row by row.
 */
bool sl_verify_has_key(const struct sl_recipe *r, const struct sl_table *t);

/*
 * Checks the order of all rows, if the table has the key columns, and adds their number to *rows.
 * Without ids, rows with equal keys are not checked.
 */
enum sl_status sl_verify_order(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint64_t *rows);

/*
 * Recomputes evenly spaced survivors, compares them with their rows, and adds their number to
 * *rows. Also checks their order: the key of a recomputed particle is known even if the file lacks
 * the key columns.
 */
enum sl_status sl_verify_sample(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint64_t *rows);

/* Compares two tables read from files of one format, rounded columns included. */
enum sl_status sl_verify_same(const struct sl_manifest_line *l, const struct sl_table *found,
	const struct sl_table *expected);

#endif
