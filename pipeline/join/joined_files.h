/*
 * joined_files.h - takes over the files of the batches of parts into the directory of the whole
 * run.
 *
 * A file is linked if both directories are on one file system, and copied otherwise. A link is safe
 * because no file of a batch is ever changed: files are replaced and removed by name.
 */
#ifndef SL_PIPELINE_JOIN_JOINED_FILES_H
#define SL_PIPELINE_JOIN_JOINED_FILES_H

#include "pipeline/join/completeness.h"

/*
 * SL_OUTPUT_IN_USE if `to` is the directory of one of the parts, and SL_DISK if its file system has
 * too little space for files that must be copied and for the joined file. `to` need not exist.
 */
enum sl_status sl_joined_files_check(const struct sl_joined_parts *parts,
	const struct sl_plan *plan, const struct sl_manifest *all);

/*
 * Links or copies the files of all batches to dir, which is locked, and then reads them there:
 * SL_BAD_INPUT if one of them differs from its manifest, SL_OUTPUT_IN_USE if a run of a part is in
 * progress. The links are durable after the next commit of a file in dir.
 */
enum sl_status sl_joined_files_take(const struct sl_joined_parts *parts, const struct sl_plan *plan,
	const struct sl_manifest *all, const struct sl_dir *dir, const atomic_int *stop);

#endif
