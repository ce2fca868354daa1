/*
 * inputs.h - the files of a list of particles, open, and a batch's particles read from them.
 *
 * Particles are numbered through all files. Of a plain file a batch reads its own records, whoever
 * reads others; one in gzip is inflated once, from its begin to its end, by one batch after the
 * other. A batch that asks for what has gone by makes it begin anew.
 */
#ifndef SL_INPUTS_H
#define SL_INPUTS_H

#include <pthread.h>

#include "primitives/base/map.h"
#include "stages/batch.h"
#include "stages/formats/mcpl_stream.h"
#include "stages/option.h"

struct sl_input {
	char path[SL_TEXT_BYTES];
	struct sl_map map;
	uint32_t crc;                 /* of the file's bytes, as gzip's */
	struct sl_mcpl_stream stream; /* of a plain file: at its first particle */
	struct sl_mcpl_header header;
	bool gzipped, recovered;
	uint64_t first; /* the number of its first particle */
};

struct sl_inputs {
	uint32_t n;
	struct sl_input at[SL_LIST_MAX];
	uint64_t particles; /* in all */
	bool gzipped;       /* any of them: turns are kept */
	pthread_mutex_t lock;
	pthread_cond_t next;
	uint64_t turn;   /* whose it is to read from files in gzip */
	uint32_t opened; /* the file in gzip that is being inflated; n: none */
	struct sl_mcpl_stream inflating;
};

/* A batch of no turn waits for nobody. */
#define SL_NO_TURN UINT64_MAX

/*
 * Opens the files and reads their headers. *made is to be closed, even after a failure; a file that
 * is no MCPL, or damaged as far as that can be told from its header and size, is SL_BAD_INPUT.
 * which is then its number.
 */
enum sl_status sl_inputs_open(
	const struct sl_lines *files, struct sl_inputs **made, uint32_t *which);
void sl_inputs_close(struct sl_inputs *inputs);

/* The columns that have one value in all files, and that value. */
uint32_t sl_inputs_constants(const struct sl_inputs *inputs, struct sl_particle *values);

/*
 * Reads the particles of b into its columns, and marks them as listed. Batches with turns (from 0
 * on, in the order of their numbers) wait for each other, and each must come once.
 */
enum sl_status sl_inputs_read(struct sl_inputs *inputs, uint64_t turn, struct sl_batch *b);

/* The turns begin anew, at 0. */
void sl_inputs_restart(struct sl_inputs *inputs);

#endif
