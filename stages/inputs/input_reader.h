/*
 * input_reader.h - opens the particle lists of a run, and reads the particles of each batch from
 * them.
 *
 * This folder is the host side of the model `list`: with that model and stages/formats/mcpl, it is
 * the only part of stages/ that reads the MCPL format.
 *
 * Particles are numbered through all files. From a plain file, each batch reads its own records
 * independently of other batches. A gzip file is decompressed once, by the survey, which keeps its
 * records in memory if they fit. If they do not, the file is decompressed a second time, from start
 * to end, by one batch after another; a batch that needs particles before the current position
 * restarts the decompression.
 */
#ifndef SL_STAGES_INPUTS_INPUT_READER_H
#define SL_STAGES_INPUTS_INPUT_READER_H

#include "primitives/files/dirs.h"
#include "stages/batch/batch.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/inputs/file_patterns.h"

/* One input file. */
struct sl_input {
	const char *path;
	uint32_t item;             /* index of the list item that it comes from */
	size_t bytes;              /* of an IAEA phase space: of both files */
	uint32_t crc;              /* of its bytes, set by sl_inputs_survey() */
	uint64_t first, particles; /* number of its first particle in the run; how many it has */
	bool gzipped; /* batches decompress it in turn: a gzip file whose records are not kept */
	bool single;  /* numbers have 4 bytes, not 8 */
	uint64_t damaged;            /* particles that are dropped, set by sl_inputs_survey() */
	bool recovered;              /* the header has no count, so complete records were counted */
	bool has_metadata;           /* it has comments or blobs */
	const char *format, *unread; /* of a list that is not MCPL (phase_space.h), or NULL */
};

struct sl_mcpl_metadata;

struct sl_inputs {
	uint32_t n;
	struct sl_input *at;
	struct sl_input_files names;
	size_t memory;           /* bytes of memory that the open files and their metadata take */
	uint64_t particles;      /* of all files */
	uint64_t stamp;          /* changes if a file is replaced or written to */
	sl_column_set constants; /* set of columns with one value in all files */
	struct sl_particle constant;  /* those values */
	double weight;                /* the constant weight, with all digits of the headers */
	bool doubles;                 /* some file has numbers of 8 bytes */
	struct sl_mcpl_header layout; /* of the source records that batches keep */
	bool drops;       /* damaged particles are dropped; set between opening and survey */
	int weight_shift; /* for sl_recipe; set by sl_inputs_survey() */
	struct sl_mcpl_metadata *metadata; /* NULL: not read */
	struct sl_reading *reading;        /* state of reading, private, reading.h */
};

/*
 * Opens the files and reads their headers. The caller closes *made, even after an error.
 * SL_BAD_INPUT if a file is no particle list, or if its header and size show that it is damaged;
 * *which is then the index of its list item.
 */
enum sl_status sl_inputs_open(const struct sl_lines *files, sl_run_lister *list_run,
	struct sl_inputs **made, uint32_t *which);
void sl_inputs_close(struct sl_inputs *inputs);

/*
 * Reads the particles of b into its columns, with the fate listed or damaged, and their records in
 * inputs->layout into b->source, if it is not NULL. Batches with a turn read gzip files in the
 * order of their turns, from 0 on; each turn must be used exactly once.
 */
enum sl_status sl_inputs_read(struct sl_inputs *inputs, struct sl_batch *b);

/*
 * The same in parts: each part is a batch of consecutive particles with the turn of the whole
 * batch. After the last part, or a failure, sl_inputs_end_turn() passes the turn on.
 */
enum sl_status sl_inputs_read_part(struct sl_inputs *inputs, struct sl_batch *part);
void sl_inputs_end_turn(struct sl_inputs *inputs, const struct sl_batch *b);

/* Resets the turns to 0, for another pass over the batches. */
void sl_inputs_restart(struct sl_inputs *inputs);

#endif
