/*
 * merge.h - merges the sorted records of the batches of a run, by key.
 *
 * Records with equal keys keep the order of their batches, which is that of their ids. The calling
 * thread merges streams of records by a tree of losers (../source/loser_tree.h):
 *
 * - Lists are mapped. Jobs fill the streams: each merges consecutive batches by a tree of its own, and reads,
 *   decompresses and checks their files. While the calling thread merges one block of a stream, the job fills the other.
 * - The survivors of a table are in memory while it is read, and only so many lists can be open. So tables, and lists
 *   of more batches, become one intermediate file of keys and rows first. Each batch in it is a stream.
 *
 * A failure of a job is reported when the record that could not be read would be next, as by one
 * thread.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_MERGE_H
#define SL_PIPELINE_OUTPUT_MERGE_MERGE_H

#include "pipeline/output/merge/record_output.h"

/* What a list is made from. */
struct sl_ordered_list {
	const struct sl_plan *plan;
	const struct sl_dir *dir;  /* of the run */
	const struct sl_dir *work; /* for intermediate files */
	const struct sl_manifest *m;
	uint32_t most; /* lists that a merge has open at a time */
};

/*
 * Sends the selected records of the batches in l->m to o in the order of their keys. No
 * intermediate file is left.
 */
enum sl_status sl_merge_run(const struct sl_ordered_list *l, const struct sl_selection *selection,
	struct sl_record_output *o);

#endif
