/*
 * plain_survey.h - the survey of a plain MCPL file, in several threads.
 *
 * The records are divided into parts of a fixed number of bytes, whatever the number of threads, and the
 * results of the parts are joined in their order. So the checksum, the rounding of the sum of the
 * weights, and the message of a failure do not depend on the threads.
 */
#ifndef SL_STAGES_INPUTS_PLAIN_SURVEY_H
#define SL_STAGES_INPUTS_PLAIN_SURVEY_H

#include "primitives/base/jobs.h"
#include "stages/inputs/mcpl_survey.h"

/* Bytes of the records of a part, at most. */
enum { SL_SURVEY_PART_BYTES = 1 << 24 };

/*
 * Checks all records of a stream that is at its first record, as sl_check_mcpl_records() does; pass->keep must
 * be NULL. After a failure the bytes up to pass->summed are those of pass->crc.
 */
enum sl_status sl_survey_plain(
	struct sl_job_pool *pool, const struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass);

#endif
