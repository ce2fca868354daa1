/*
 * input_survey.h - reads all particles of the input lists once, and answers questions about the
 * files.
 */
#ifndef SL_STAGES_INPUTS_INPUT_SURVEY_H
#define SL_STAGES_INPUTS_INPUT_SURVEY_H

#include "stages/inputs/input_reader.h"

/*
 * Reads all files once, plain MCPL files in so many threads. Sets the checksum of each, checks all
 * particles, and keeps the records of gzip files in memory, file by file, while together they have
 * at most keep_most bytes. SL_BAD_INPUT, after all checksums are set, if a file cannot be read to
 * its end, or contains numbers that a run cannot represent (mcpl_survey.h). Sets weight_shift such
 * that the sum of the absolute values of all weights is below 2^61 units. A weight is rounded by at
 * most half a unit (a negative one by a whole unit), so the error of a sum is below 2^-30 of the
 * sum of all weights, and mostly far smaller.
 */
enum sl_status sl_inputs_survey(struct sl_inputs *inputs, size_t keep_most, uint32_t threads);

/*
 * The records of all particles, one after another in inputs->layout, which the survey has kept:
 * memory that does not change, so batches need no copies. NULL if a file is not in gzip, is not
 * kept or has another layout.
 */
const void *sl_inputs_records(const struct sl_inputs *inputs);

/* Reads the metadata that output files inherit (mcpl_metadata.h), and sets inputs->metadata. */
enum sl_status sl_inputs_read_metadata(struct sl_inputs *inputs);

/*
 * Sets *contain to whether the entry name of dir is one of the files (same device and inode).
 * SL_DISK if the file system does not answer.
 */
enum sl_status sl_inputs_contain(
	const struct sl_inputs *inputs, const struct sl_dir *dir, const char *name, bool *contain);

#endif
