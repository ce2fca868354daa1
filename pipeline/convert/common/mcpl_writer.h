/*
 * mcpl_writer.h - writes an MCPL file, plain or as gzip members
 * (pipeline/output/merge/record_output.h).
 */
#ifndef SL_PIPELINE_CONVERT_COMMON_MCPL_WRITER_H
#define SL_PIPELINE_CONVERT_COMMON_MCPL_WRITER_H

#include "pipeline/convert/common/context.h"
#include "pipeline/output/merge/record_output.h"

/*
 * An MCPL file being written: call begin with the header, add with whole records, and end. The file
 * gets its name in end, unless more or fewer particles were read or written than the header states.
 * After a failure the file is removed, and no further call is needed; sl_mcpl_writer_drop() may be
 * called in any state.
 */
struct sl_mcpl_writer {
	struct sl_conversion *c;
	struct sl_file_writer file;
	struct sl_job_pool pool; /* without threads */
	struct sl_record_output records;
};
enum sl_status sl_mcpl_writer_begin(struct sl_mcpl_writer *w, struct sl_conversion *c,
	const void *header, size_t bytes, const struct sl_mcpl_header *h);
enum sl_status sl_mcpl_writer_add(struct sl_mcpl_writer *w, const void *records, size_t bytes);
enum sl_status sl_mcpl_writer_end(struct sl_mcpl_writer *w);
void sl_mcpl_writer_drop(struct sl_mcpl_writer *w);

#endif
