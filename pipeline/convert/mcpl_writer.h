/* mcpl_writer.h - writes an MCPL list record by record, plain or as members of gzip. */
#ifndef SL_PIPELINE_CONVERT_MCPL_WRITER_H
#define SL_PIPELINE_CONVERT_MCPL_WRITER_H

#include "pipeline/convert/context.h"

/*
 * A list being written, plain or in gzip: the header, then records, then its end. Members of gzip
 * are filled. After a failure it is dropped, and needs no more calls.
 */
struct sl_list_writer {
	struct sl_converting *c;
	struct sl_file_writer file;
	uint8_t *member, *packed; /* records that wait; room for what becomes of them */
	size_t most, used;        /* of records in a member */
	struct sl_exec x;
	void *block;
};
enum sl_status sl_list_begin(struct sl_list_writer *w, struct sl_converting *c, const void *header,
	size_t bytes, uint32_t record_bytes);
enum sl_status sl_list_add(struct sl_list_writer *w, const void *records, size_t bytes);
enum sl_status sl_list_end(struct sl_list_writer *w);
void sl_list_drop(struct sl_list_writer *w);

#endif
