/*
 * mcpl_survey.h - reads all particles of a list once, before any of them is used.
 *
 * The survey proves that the file can be read to its end and that its numbers fit into columns of
 * single precision, and it sums the weights.
 *
 * A plain file is surveyed in several threads. Its records are divided into parts of a fixed number
 * of bytes, whatever the number of threads, and the results of the parts are joined in the order of
 * the file. So the checksum, the rounding of the sum of the weights, and the message of a failure
 * do not depend on the threads.
 */
#ifndef SL_STAGES_INPUTS_MCPL_SURVEY_H
#define SL_STAGES_INPUTS_MCPL_SURVEY_H

#include "primitives/base/jobs.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/formats/phase_space/phase_space.h"

/* A survey of the records of one file, and what it produces on the way. */
struct sl_mcpl_pass {
	uint64_t first; /* the number in the file of the first record of the stream */
	uint8_t *
		keep; /* NULL, or room for all records: header.particles * header.record_bytes bytes */
	bool drops;            /* damaged records are counted, not refused */
	uint64_t damaged;      /* their number */
	double weights;        /* sum of the absolute values of the weights */
	uint32_t crc;          /* of the bytes of the file that were read, compressed or not */
	const uint8_t *summed; /* end of these bytes; at first the beginning of the file */
};

/*
 * Adds the common weight of a file, once for each particle. SL_BAD_INPUT if it is outside the range
 * of single precision.
 */
enum sl_status sl_check_mcpl_weight(const struct sl_mcpl_header *h, double *weights);

/*
 * Whether a record, or a particle of a list of another format, has a number that single precision
 * cannot hold, or a weight that is NaN or infinite.
 */
bool sl_is_damaged_record(const struct sl_mcpl_header *h, const uint8_t *record);
bool sl_is_damaged_particle(const struct sl_mcpl_header *h, const struct sl_mcpl_particle *p);

/*
 * Reads all records of a stream, which is at the first one. SL_BAD_INPUT with the number of the
 * particle (from 0) if the file is damaged or truncated, or if a record is damaged and pass->drops
 * is not set.
 */
enum sl_status sl_check_mcpl_records(struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass);

/* Bytes of the records of a part, at most. */
enum { SL_SURVEY_PART_BYTES = 1 << 24 };

/*
 * Checks all records of a stream that is at its first record, as sl_check_mcpl_records() does;
 * pass->keep must be NULL. SL_HOST_MEMORY if the host has no memory for the results, 8 bytes per
 * part. After a failure the bytes up to pass->summed are those of pass->crc.
 */
enum sl_status sl_survey_plain(
	struct sl_job_pool *pool, const struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass);

/* The same for all particles of a list of another format, and the check of its common weight. */
enum sl_status sl_check_phase_space(const struct sl_phase_space *s, struct sl_mcpl_pass *pass);

#endif
