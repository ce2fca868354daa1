/*
 * shared_list.h - the ranks of a run under MPI merge the joined file together (output.order: run).
 *
 * It is a sample sort of the batches, which are sorted already. The bytes of the file are divided into ranges of
 * nearly equal size, one for each rank. Each rank finds in the order files which records of each batch belong
 * to its range (source/splitters.h), merges only these, and writes them at their place in the file.
 *
 *	rank 0                                      other ranks
 *	sends the lines of the batches
 *	creates NAME.mcpl.part, sends its number    open it, once they see it under this number
 *	             merge their ranges, write at their offsets
 *	             exchange checksums, and ends of records that lie in two ranges
 *	             compare the checksums, flush, close, agree
 *	renames the file
 *
 * One file. Ranks do not write files that rank 0 joins, because it would then read and write all bytes, which takes
 * as long as the merge. Two clients of a network file system must not write to one page: NFS may write back a whole
 * page, with old bytes of the other client. So ranges begin at multiples of SL_SHARED_BLOCK_BYTES. A record that
 * lies in two ranges is merged by the first rank, and its end is sent to the next one, which writes it.
 *
 * Checksums. Each rank computes the CRC-32 of the bytes of each file that it has merged. Together they must give
 * the CRC-32 of the manifest, so each byte of the list was checked by the process that has read it.
 *
 * Failures. Nothing but the .part file exists before all ranks have agreed on success. A killed run leaves it, and
 * --resume removes it. A rank of a killed run that is still there keeps the old file open, which has no
 * name any more, so it cannot damage the new one. While the list is made, ranks watch each other (ranks_watch.h).
 */
#ifndef SL_PIPELINE_OUTPUT_SHARED_LIST_H
#define SL_PIPELINE_OUTPUT_SHARED_LIST_H

#include "pipeline/ranks/ranks.h"
#include "pipeline/results/manifest.h"
#include "pipeline/run/workspace.h"

/* A multiple of the pages of all processors, which have 4 to 64 KiB. */
enum { SL_SHARED_BLOCK_BYTES = 1 << 16 };

/*
 * Makes the joined file and sets w->list_made and w->joined, if the ranks can share it: a plain MCPL list in the
 * order of the run, without output.sample and output.limit, of 2 to SL_MERGED_FILES_MOST batches. Else it does
 * nothing, and rank 0 makes the file, if the run has one.
 *
 * All ranks call it together and return the status on which they have agreed. m: on rank 0 the lines of the
 * complete run, NULL if it is not complete; ignored on other ranks. ranks may be NULL.
 */
enum sl_status sl_shared_list_commit(struct sl_workspace *w, struct sl_ranks *ranks,
	const struct sl_dir *dir, const struct sl_manifest *m);

#endif
