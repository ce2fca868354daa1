/*
 * inputs.h - the files of a list of particles, open, and a batch's particles read from them.
 *
 * Particles are numbered through all files. Of a plain file a batch reads its own records, whoever
 * reads others; one in gzip is inflated once, from its begin to its end, by one batch after the
 * other. A batch that asks for what has gone by makes it begin anew.
 */
#ifndef SL_STAGES_INPUTS_INPUT_READER_H
#define SL_STAGES_INPUTS_INPUT_READER_H

#include "primitives/files/dirs.h"
#include "stages/batch/batch.h"
#include "stages/inputs/file_patterns.h"

/* What is known of a file. */
struct sl_input {
	const char *path;
	uint32_t item; /* of the list that stands for it */
	size_t bytes;
	uint32_t crc;              /* once it was asked for, by the plan */
	uint64_t first, particles; /* the number of its first one; how many */
	bool gzipped, single;      /* numbers of 4 bytes, not 8 */
	bool recovered;            /* its header counts none: whole records were counted */
	bool told;                 /* it has comments or blobs */
};

struct sl_mcpl_metadata;

struct sl_inputs {
	uint32_t n;
	struct sl_input *at;
	struct sl_input_files names;
	size_t memory;               /* bytes that all this takes */
	uint64_t particles;          /* in all */
	uint64_t stamp;              /* another one: files are others, or were written to since */
	uint32_t constants;          /* set of columns with one value in all files ... */
	struct sl_particle constant; /* ... and that value */
	int weight_shift;            /* once surveyed: the steps of sums of weights (recipe.h) */
	struct sl_reading *reading;  /* inputs.c */
};

/*
 * Opens the files and reads their headers. *made is to be closed, even after a failure; a file that
 * is no MCPL, or damaged as far as that can be told from its header and size, is SL_BAD_INPUT.
 * which is then the number of its item.
 */
enum sl_status sl_inputs_open(
	const struct sl_lines *files, struct sl_inputs **made, uint32_t *which);
void sl_inputs_close(struct sl_inputs *inputs);

/*
 * Looks at all particles once: a file that cannot be read to its end, or has numbers that a run
 * cannot work with (mcpl_survey.h), is SL_BAD_INPUT. The steps of sums are chosen such that that of
 * all weights, without their signs, is below 2^61 of them: each is rounded by half a step (one
 * below 0 by a whole one), so that what many particles weigh is off by less than 2^-30 of what all
 * do, and mostly by far less.
 */
enum sl_status sl_inputs_survey(struct sl_inputs *inputs);

/*
 * Reads the particles of b into its columns, and marks them as listed. Batches with turns (from 0
 * on, in the order of their numbers) wait for each other, and each must come once.
 */
enum sl_status sl_inputs_read(struct sl_inputs *inputs, struct sl_batch *b);

/*
 * Reads what the headers of the files leave to lists that are made of them (mcpl_metadata.h): to be
 * freed before the files are closed.
 */
enum sl_status sl_inputs_metadata(const struct sl_inputs *inputs, struct sl_mcpl_metadata **made);

/* Is the entry name of dir one of the files? */
bool sl_inputs_contain(const struct sl_inputs *inputs, const struct sl_dir *dir, const char *name);

/* The CRC-32 of the bytes of file k. */
uint32_t sl_inputs_crc(const struct sl_inputs *inputs, uint32_t k);

/* The turns begin anew, at 0. */
void sl_inputs_restart(struct sl_inputs *inputs);

#endif
