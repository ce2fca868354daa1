/* merge_target.h - where the records of a merge go: to the list, or to an intermediate file of keys and records. */
#ifndef SL_PIPELINE_OUTPUT_MERGE_MERGE_TARGET_H
#define SL_PIPELINE_OUTPUT_MERGE_MERGE_TARGET_H

#include <string.h>

#include "pipeline/output/merge/record_output.h"
#include "pipeline/plan/joined_memory.h"
#include "primitives/files/files.h"

struct sl_merge_target {
	struct sl_record_output *list; /* NULL: it is a file */
	struct sl_file_writer file;
	uint8_t *buffer; /* SL_MERGE_TARGET_BYTES */
	size_t used;
};

/* Writes what is in the buffer to the file. */
enum sl_status sl_merge_target_flush(struct sl_merge_target *t);

/* Appends a record of so many bytes. */
static inline enum sl_status sl_merge_target_add(
	struct sl_merge_target *t, uint64_t key, const uint8_t *record, size_t bytes)
{
	if (t->list)
		return sl_record_output_add(t->list, record);
	if (t->used + sizeof(key) + bytes > SL_MERGE_TARGET_BYTES)
		SL_TRY(sl_merge_target_flush(t));
	memcpy(t->buffer + t->used, &key, sizeof(key));
	sl_record_copy(t->buffer + t->used + sizeof(key), record, bytes);
	t->used += sizeof(key) + bytes;
	return SL_OK;
}

#endif
