/* mcpl_writer.h - writes an MCPL file, plain or as gzip members. */
#ifndef SL_PIPELINE_CONVERT_COMMON_MCPL_WRITER_H
#define SL_PIPELINE_CONVERT_COMMON_MCPL_WRITER_H

#include "pipeline/convert/common/context.h"

/*
 * An MCPL file being written: call begin with the header, add with whole records, end with the
 * particles that the header states. The file gets its name in end, unless more or fewer were read
 * or written. After a failure the file is removed, and no further call is needed;
 * sl_mcpl_writer_drop() may be called in any state.
 */
struct sl_mcpl_writer {
	struct sl_conversion *c;
	struct sl_file_writer file;
	uint8_t *member, *packed; /* records of a member; the compressed member */
	size_t most, used;        /* bytes of records in a member */
	uint32_t record_bytes;
	struct sl_written written;
	struct sl_exec x;
	void *block;
};
enum sl_status sl_mcpl_writer_begin(struct sl_mcpl_writer *w, struct sl_conversion *c,
	const void *header, size_t bytes, uint32_t record_bytes);
enum sl_status sl_mcpl_writer_add(struct sl_mcpl_writer *w, const void *records, size_t bytes);
enum sl_status sl_mcpl_writer_end(struct sl_mcpl_writer *w, uint64_t particles);
void sl_mcpl_writer_drop(struct sl_mcpl_writer *w);

#endif
