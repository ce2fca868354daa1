/*
 * record_output.h - the bytes of a list, plain or as gzip members like those of the batches: its
 * header, and records that come one after another; or these as rows, of which a table is made.
 *
 * Full buffers are jobs of a pool. Members are compressed in parallel, and the calling thread
 * passes them on in order. Plain bytes and rows are passed on by one job at a time, while the
 * caller fills the other buffer.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_RECORD_OUTPUT_H
#define SL_PIPELINE_OUTPUT_MERGE_RECORD_OUTPUT_H

#include "pipeline/output/merge/table_output.h"
#include "primitives/base/jobs.h"

/* Where the bytes of a list go. */
struct sl_list_target {
	sl_byte_sink *sink;
	void *context;
	const struct sl_file_facts *facts;
	bool gzip;
};

/*
 * The header of a list. In gzip it is a member with stored blocks, as in the files of batches, so
 * that its size depends only on that of the header.
 */
size_t sl_list_header_bytes(const struct sl_list_target *t, size_t bytes);
enum sl_status sl_list_header_send(
	const struct sl_list_target *t, const void *header, size_t bytes);

struct sl_record_output;

/* A buffer of whole records. */
struct sl_output_buffer {
	struct sl_record_output *output;
	struct sl_job job;
	uint8_t *records;
	size_t used;
	uint8_t *packed;     /* a member; NULL: records are not compressed */
	size_t packed_bytes; /* that were not passed on yet */
	struct sl_exec x;
};

struct sl_record_output {
	struct sl_list_target list; /* unless records are rows of a table */
	struct sl_job_pool *pool;
	uint64_t all, left; /* records; those that may still follow, all after them are ignored */
	struct sl_written written;     /* passed on */
	uint32_t bytes;                /* of a record */
	uint8_t *records;              /* of the buffer that is filled */
	size_t used, most;             /* bytes in it */
	struct sl_table_output *table; /* records are its rows; NULL: they are bytes of the list */
	uint32_t n, at;                /* buffers; the one that is filled */
	struct sl_output_buffer *buffer;
	void *block;
};

/*
 * Allocates the buffers for a list of at most so many records, or for a table. The caller calls
 * sl_record_output_end() in any case.
 */
enum sl_status sl_record_output_begin(struct sl_record_output *o, const struct sl_list_target *list,
	struct sl_job_pool *pool, uint32_t record_bytes, uint64_t records);
enum sl_status sl_record_output_begin_table(struct sl_record_output *o, struct sl_job_pool *pool,
	uint32_t row_bytes, uint64_t rows, struct sl_table_output *table);

/* Submits the full buffer, and goes on with the next one, which has the oldest records. */
enum sl_status sl_record_output_submit(struct sl_record_output *o);

static inline enum sl_status sl_record_output_add(struct sl_record_output *o, const uint8_t *record)
{
	if (o->left == 0)
		return SL_OK;
	o->left--;
	sl_record_copy(o->records + o->used, record, o->bytes);
	o->used += o->bytes;
	return o->used == o->most ? sl_record_output_submit(o) : SL_OK;
}

/* Passes on what is left in the buffers. SL_INTERNAL if these were not all records. */
enum sl_status sl_record_output_flush(struct sl_record_output *o);

/* Waits for the jobs, and frees the buffers. Keeps the last error message. */
void sl_record_output_end(struct sl_record_output *o);

#endif
