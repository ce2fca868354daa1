/*
 * reading.h - the state of reading, private to this folder: the open files, and the stream of gzip
 * files.
 */
#ifndef SL_STAGES_INPUTS_READING_H
#define SL_STAGES_INPUTS_READING_H

#include <pthread.h>

#include "stages/inputs/input_source.h"

/* No gzip file is being decompressed. */
#define SL_NO_INPUT_FILE UINT32_MAX

/*
 * The state that batches share. Sources do not change after sl_inputs_open(), so plain files need
 * no lock; the members after them are protected by lock.
 */
struct sl_reading {
	struct sl_input_source *source; /* one per file */
	void *kept; /* NULL, or one block with the records of gzip files that the survey keeps */
	/* The stream that decompresses gzip files, one at a time; whether there are any; the index
	 * of the file that it is in, or SL_NO_INPUT_FILE. */
	struct sl_mcpl_stream gzip;
	bool gzipped;
	bool in_turn; /* batches must decompress some file in the order of their turns */
	uint32_t gzip_file;
	pthread_mutex_t lock;
	pthread_cond_t next;
	uint64_t turn; /* the turn of the batch that may read gzip files next */
};

/* Moves the stream of gzip files to the first particle of file k. */
enum sl_status sl_reading_begin_gzip(struct sl_reading *r, uint32_t k);

#endif
