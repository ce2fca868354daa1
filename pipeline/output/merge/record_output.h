/*
 * record_output.h - collects records and passes them on as the bytes of a list: plain, or as gzip members
 * like those of the batches; or as rows, of which a table is made.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_RECORD_OUTPUT_H
#define SL_PIPELINE_OUTPUT_MERGE_RECORD_OUTPUT_H

#include "pipeline/output/merge/table_output.h"

struct sl_record_output {
	sl_byte_sink *sink;
	void *context;
	const struct sl_file_facts *facts;
	uint64_t left;     /* records that may still follow; all after them are ignored */
	uint32_t bytes;    /* of a record */
	uint8_t *buffer;   /* whole records */
	size_t used, most; /* bytes in the buffer */
	uint8_t *packed;   /* a member; NULL: records are not compressed */
	struct sl_table_output *table; /* records are its rows; NULL: they are bytes of the list */
	struct sl_exec x;
	void *block;
};

/* Allocates the buffers for a list of at most so many records of a plan, or for a table. */
enum sl_status sl_record_output_begin(struct sl_record_output *o, const struct sl_plan *plan,
	uint32_t record_bytes, uint64_t records, sl_byte_sink *sink, void *context);
enum sl_status sl_record_output_begin_table(struct sl_record_output *o, uint32_t row_bytes,
	uint64_t rows, struct sl_table_output *table);

enum sl_status sl_record_output_add(struct sl_record_output *o, const uint8_t *record);

/* Passes on what is left in the buffer. */
enum sl_status sl_record_output_flush(struct sl_record_output *o);

/* Frees the buffers. */
void sl_record_output_end(struct sl_record_output *o);

#endif
