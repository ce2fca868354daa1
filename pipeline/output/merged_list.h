/*
 * merged_list.h - one list of a whole run: NAME.mcpl or NAME.mcpl.gz, made of the files of its batches.
 *
 * It is made once, when the run is done, and not grown behind each batch. A growing file would have
 * to be patched in place, its count, its sum and the checksum of its header, where the files of
 * batches are never touched again; a batch found damaged could not be made anew without all that
 * follow it; and batches would have to be written one behind the other. So what a kill leaves is
 * whole files, as of any run, and --resume ends with the same bytes. It costs the disk twice over.
 *
 * Records, and members of gzip, are copied as they stand: only the header is new. It counts all
 * particles, and in stat:sum:sluice_generated all that were generated for them.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGED_LIST_H
#define SL_PIPELINE_OUTPUT_MERGED_LIST_H

#include "pipeline/results/manifest.h"
#include "pipeline/plan/plan.h"

/*
 * Commits it, in the place of one that is there; nothing where the plan has none. SL_CHECK_FAILED
 * when the file of a batch is not that of the manifest.
 */
enum sl_status sl_joined_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m);

/* Is the list that is there what the files of the batches make? SL_CHECK_FAILED if not. */
enum sl_status sl_joined_check(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m);

#endif
