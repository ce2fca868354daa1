/*
 * ordered_list.h - the bytes of a joined file whose records are merged by key, sampled or limited, or of a
 * joined table.
 *
 * Records keep their bytes; only a sample changes weights. The header is that of a list of whole batches
 * with another number of particles and, for a sample of particles that share a weight, another weight.
 * Statistics (stat:sum) are those of the run: a selection changes nothing of what was simulated.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_ORDERED_LIST_H
#define SL_PIPELINE_OUTPUT_MERGE_ORDERED_LIST_H

#include "pipeline/output/merge/device_order.h"
#include "pipeline/output/merge/record_output.h"
#include "pipeline/results/manifest.h"

/*
 * Whether the list of the batches in m needs their records: it is more than their bytes in sequence. That of
 * a format of columns always does.
 */
bool sl_ordered_list_is_needed(const struct sl_plan *plan, const struct sl_manifest *m);

/* What one rank sends of a list: some of its records, and the first rank the header before them. */
struct sl_list_share {
	struct sl_record_range *range; /* of each batch of the list */
	uint64_t records;              /* in all ranges */
	bool is_first;
	const atomic_bool *cancel; /* set when another rank was lost */
};

/* What a list is made from. */
struct sl_ordered_list {
	const struct sl_plan *plan;
	const struct sl_dir *dir;  /* of the run */
	const struct sl_dir *work; /* for intermediate files */
	const struct sl_manifest *m;
	uint32_t most;                     /* files that are merged at a time */
	const struct sl_list_share *share; /* NULL: all of the list is sent */
	const struct sl_order_devices
		*devices; /* sort the keys; none, or NULL: the host compares them */
};

/*
 * Reads the layout of the records from the file of the first batch: all batches have the same one. *header_bytes
 * is the size of its header, and of that of the list.
 */
enum sl_status sl_ordered_list_layout(
	const struct sl_ordered_list *l, struct sl_mcpl_header *layout, size_t *header_bytes);

/*
 * Sends the list of the batches in l->m to sink: the merged header as struct sl_format_merge has it in sum,
 * and records; or a file of columns, for which sum is NULL. A share without the header needs no sum. Sets
 * *list. SL_CHECK_FAILED if the files of a batch do not match the manifest.
 */
enum sl_status sl_ordered_list_send(const struct sl_ordered_list *l, void *sum, sl_byte_sink *sink,
	void *context, struct sl_joined_list *list);

#endif
