/*
 * completeness.h - checks that parts are one whole run: every batch once, every file undamaged.
 *
 * A stop rule is evaluated here, over the batches of all parts in order, as one process does after
 * each commit. Batches after the one that meets it are no part of the run; their parts may be
 * incomplete or missing.
 */
#ifndef SL_PIPELINE_JOIN_COMPLETENESS_H
#define SL_PIPELINE_JOIN_COMPLETENESS_H

#include <stdatomic.h>

#include "pipeline/join/parts.h"
#include "pipeline/plan/plan.h"

/*
 * Moves the lines of the batches of the run from the manifests of the parts to *all, in order. The
 * caller frees it, also after a failure. SL_BAD_INPUT if batches are missing; the message names the
 * parts.
 */
enum sl_status sl_parts_collect(
	struct sl_joined_parts *parts, const struct sl_plan *plan, struct sl_manifest *all);

/*
 * Reads the files of a batch of a part in dir. SL_BAD_INPUT if they differ from the manifest of the
 * part.
 */
enum sl_status sl_part_check_files(const struct sl_joined_part *part, const struct sl_plan *plan,
	const struct sl_dir *dir, const struct sl_manifest_line *l);

/*
 * The same for all batches, in the directories of the parts. SL_BAD_INPUT if one of them differs
 * from its manifest; SL_STOPPED if *stop becomes other than 0.
 */
enum sl_status sl_parts_check_files(const struct sl_joined_parts *parts, const struct sl_plan *plan,
	const struct sl_manifest *all, const atomic_int *stop);

/* The index in parts->at of the part that has computed the batch of a line of all. */
size_t sl_parts_find(
	const struct sl_joined_parts *parts, const struct sl_plan *plan, uint64_t batch);

/* SL_STOPPED if *stop is other than 0. */
enum sl_status sl_join_check_stop(const atomic_int *stop);

#endif
