/* info_survivors.h - the columns of survivor files: statistics, particle types, first rows. */
#ifndef SL_PIPELINE_INFO_INFO_SURVIVORS_H
#define SL_PIPELINE_INFO_INFO_SURVIVORS_H

#include <stdio.h>

#include "pipeline/results/manifest.h"
#include "primitives/files/dirs.h"

/*
 * Prints the first head rows of a survivor file, the statistics and the digest of each column, and a
 * table by particle type. SL_BAD_INPUT if the file is damaged.
 */
enum sl_status sl_info_survivors(const char *path, uint64_t head, FILE *out);

/* The same, without digests, for the survivors of all batches of a run together. */
enum sl_status sl_info_all_survivors(
	const struct sl_dir *dir, const struct sl_manifest *m, uint64_t head, FILE *out);

#endif
