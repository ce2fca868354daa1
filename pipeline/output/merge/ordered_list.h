/*
 * ordered_list.h - the bytes of a joined file whose records are merged by key, sampled or limited,
 * or of a joined table.
 *
 * Records keep their bytes; only a sample changes weights. The header is that of a list of whole
 * batches with another number of particles and, for a sample of particles that share a weight,
 * another weight. Statistics (stat:sum) are those of the run: a selection changes nothing of what
 * was simulated.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_ORDERED_LIST_H
#define SL_PIPELINE_OUTPUT_MERGE_ORDERED_LIST_H

#include "pipeline/output/merge/merge.h"
#include "pipeline/results/manifest.h"
#include "pipeline/run/run.h"
#include "stages/formats/mcpl/mcpl_head.h"

/*
 * Whether the list of the batches in m needs their records: it is more than their bytes in
 * sequence. That of a format of columns always does.
 */
bool sl_ordered_list_is_needed(const struct sl_plan *plan, const struct sl_manifest *m);

/*
 * Sends the list of the batches in l->m: records after the header, of which sum is the sum of all
 * batches; or a file of columns, without sum. Sets *list. SL_CHECK_FAILED if the files of a batch
 * do not match the manifest.
 */
enum sl_status sl_ordered_list_send(const struct sl_ordered_list *l, struct sl_mcpl_head *sum,
	const struct sl_list_target *to, struct sl_joined_list *list);

#endif
