/*
 * verify_table.h - compares the survivors of one batch with its line of the manifest, with the
 * order of the keys, and with particles that are computed again.
 *
 * A function returns SL_CHECK_FAILED, with a message about the batch, at the first difference.
 */
#ifndef SL_PIPELINE_VERIFY_VERIFY_TABLE_H
#define SL_PIPELINE_VERIFY_VERIFY_TABLE_H

#include "pipeline/results/manifest.h"
#include "stages/batch/recipe.h"

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
