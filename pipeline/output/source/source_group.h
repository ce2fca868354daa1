/* source_group.h - merges some open sources: the records of all of them, one after another, by key. */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_SOURCE_GROUP_H
#define SL_PIPELINE_OUTPUT_SOURCE_SOURCE_GROUP_H

#include "pipeline/output/source/loser_tree.h"
#include "pipeline/output/source/record_source.h"

struct sl_source_group {
	struct sl_record_source *source;
	struct sl_loser_tree tree; /* with memory for as many heads as sources */
};

/* Moves source i of the group to its next record, and enters it. */
static inline enum sl_status sl_source_group_advance(struct sl_source_group *g, uint32_t i)
{
	bool more;

	SL_TRY(sl_record_source_next(&g->source[i], &more));
	sl_loser_tree_enter(&g->tree, i, more, g->source[i].key);
	return SL_OK;
}

/* Moves n open sources to their first records. */
enum sl_status sl_source_group_begin(struct sl_source_group *g, uint32_t n);

/*
 * Copies the next records to a block of `size` bytes: of each its key, 8 bytes, then the record. *used is
 * the number of bytes filled: less than fit only at the end of the group and after a failure, which is that of the
 * source of the next record.
 */
enum sl_status sl_source_group_fill(
	struct sl_source_group *g, uint8_t *block, size_t size, size_t *used);

#endif
