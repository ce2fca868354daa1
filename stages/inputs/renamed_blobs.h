/*
 * renamed_blobs.h - the blobs of input lists that have another name in the output files.
 *
 * A blob is a named block of bytes in the header of a list. If two lists have different blobs of
 * one name, the output files keep both, and the name of the later one gets a suffix
 * (mcpl_metadata.h).
 */
#ifndef SL_STAGES_INPUTS_RENAMED_BLOBS_H
#define SL_STAGES_INPUTS_RENAMED_BLOBS_H

#include "stages/inputs/input_reader.h"

struct sl_renamed_blob {
	const char *path; /* of the list that has the blob */
	const char *name; /* in that list; not terminated */
	size_t name_bytes;
	uint32_t number; /* the output name is NAME_NUMBER */
	uint32_t next;   /* index of the next blob to examine; starts at 0 */
};

/*
 * Sets *b to the next renamed blob; start with {0}. False after the last one, and if the inputs
 * (which may be NULL) were opened without reading their metadata.
 */
bool sl_renamed_blob_next(const struct sl_inputs *inputs, struct sl_renamed_blob *b);

#endif
