/* inputs.h - reads the lists of the model list */
#ifndef SL_STAGES_INPUTS_INPUTS_H
#define SL_STAGES_INPUTS_INPUTS_H

#include <pthread.h>

#include "primitives/base/jobs.h"
#include "primitives/base/status.h"
#include "primitives/files/files.h"
#include "stages/batch/batch.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/formats/phase_space/phase_space.h"
#include "stages/models/common/rules_data.h"
#include "stages/models/option.h"

/* --- file_patterns ---------------------------------------------------------------------------- */

/* Expands a list of file names and patterns to the files that it stands for. */

enum { SL_INPUTS_MAX = 4096 };

struct sl_input_file {
	const char *path;
	uint32_t item;  /* index of the item that it comes from */
	bool committed; /* of a run, whose manifest has the checksum */
	uint32_t crc;
};

struct sl_input_files {
	uint32_t n;
	size_t bytes;             /* size of the memory at */
	struct sl_input_file *at; /* names and array, freed with sl_memory_give() */
};

/* The paths and checksums of the survivor files of a run, in the order of their batches. */
struct sl_run_files {
	const char *const *path;
	const uint32_t *crc;
	size_t n;
	void *block; /* memory of both, freed with sl_memory_give() */
};

/* The end of a message about a file that is not the one of the manifest. */
#define SL_OTHER_THAN_COMMITTED                                                                      \
	"the file is not the one that its run has committed, because it is damaged or was changed; " \
	"compute it again with sluice run --resume"

/* Lists the files of the run in a directory; stages/ does not read manifests. */
typedef enum sl_status sl_run_lister(const char *folder, struct sl_run_files *files);

/*
 * Finds the files of items. A directory stands for the files that list_run lists. An item that
 * contains one of * ? [ and is not the name of a file is a shell pattern (glob) and stands for all
 * matching files in byte order of their names; of an IAEA phase space of which both files match,
 * only the records count. SL_USAGE if a pattern matches nothing, or if there are more than
 * SL_INPUTS_MAX files; *which is then the index of the item.
 */
enum sl_status sl_find_input_files(const struct sl_lines *items, sl_run_lister *list_run,
	struct sl_input_files *names, uint32_t *which);

/* SL_USAGE or SL_DISK if the files of an item do not exist; a file is not opened. */
enum sl_status sl_look_up_input_files(const char *item, sl_run_lister *list_run);

/* --- input_source ----------------------------------------------------------------------------- */

/*
 * An open input file: an MCPL list, or a list of another format (phase_space.h).
 *
 * Sources do not change after they are opened, so any number of threads may use them.
 */

struct sl_input_source {
	struct sl_map map;
	struct sl_mcpl_stream stream; /* of MCPL, at the first particle; each reader copies it. Of a
	                                 gzip file only the header is valid */
	struct sl_phase_space *space; /* of another format; NULL: MCPL */
	uint8_t *kept; /* NULL, or the records of a gzip file, decompressed (input_survey.c) */
};

/* What the particles of an open file have. */
const struct sl_mcpl_header *sl_input_source_fields(const struct sl_input_source *f);

/* Bytes of a file and their CRC-32. An IAEA phase space is two files, one after the other. */
size_t sl_input_source_bytes(const struct sl_input_source *f);
uint32_t sl_input_source_crc(const struct sl_input_source *f);

/*
 * A stamp that changes if a file is replaced or written to, from the stamp of the files before it.
 */
uint64_t sl_input_source_stamp(const struct sl_input_source *f, uint64_t stamp);

/* Whether a file was written to since it was opened. */
bool sl_input_source_is_changed(const struct sl_input_source *f, const char *path);

/* Whether it is the file with this device and inode number. */
bool sl_input_source_is(const struct sl_input_source *f, uint64_t device, uint64_t number);

/* The file as MCPL, at least its header, for metadata. */
struct sl_mcpl_part sl_input_source_part(const struct sl_input_source *f);

/* --- reading ---------------------------------------------------------------------------------- */

/*
 * The state of reading, private to this folder: the open files, and the stream of gzip
 * files.
 */

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

/* --- input_reader ----------------------------------------------------------------------------- */

/*
 * Opens the particle lists of a run, and reads the particles of each batch from
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
	struct sl_reading reading;         /* private */
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

/* --- input_survey ----------------------------------------------------------------------------- */

/*
 * Reads all particles of the input lists once, and answers questions about the
 * files.
 */

/*
 * Reads all files once, plain MCPL files in so many threads. Sets the checksum of each, checks all
 * particles, and keeps the records of gzip files in memory, file by file, while together they have
 * at most keep_most bytes. SL_BAD_INPUT, after all checksums are set, if a file cannot be read to
 * its end, or contains numbers that a run cannot represent (input_survey.c). Sets weight_shift such
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

/* Reads the metadata that output files inherit (mcpl.h), and sets inputs->metadata. */
enum sl_status sl_inputs_read_metadata(struct sl_inputs *inputs);

/*
 * Sets *contain to whether the entry name of dir is one of the files (same device and inode).
 * SL_DISK if the file system does not answer.
 */
enum sl_status sl_inputs_contain(
	const struct sl_inputs *inputs, const struct sl_dir *dir, const char *name, bool *contain);

/* --- mcpl_survey ------------------------------------------------------------------------------ */

/*
 * Reads all particles of a list once, before any of them is used.
 *
 * The survey proves that the file can be read to its end and that its numbers fit into columns of
 * single precision, and it sums the weights.
 *
 * A plain file is surveyed in several threads. Its records are divided into parts of a fixed number
 * of bytes, whatever the number of threads, and the results of the parts are joined in the order of
 * the file. So the checksum, the rounding of the sum of the weights, and the message of a failure
 * do not depend on the threads.
 */

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
 * pass->keep must be NULL. SL_HOST_MEMORY if the host has no memory for the results of the parts.
 * After a failure the bytes up to pass->summed are those of pass->crc.
 */
enum sl_status sl_survey_plain(
	struct sl_job_pool *pool, const struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass);

/* The same for all particles of a list of another format, and the check of its common weight. */
enum sl_status sl_check_phase_space(const struct sl_phase_space *s, struct sl_mcpl_pass *pass);

/* --- nifti ------------------------------------------------------------------------------------ */

struct sl_npy;

enum { SL_NIFTI_BYTES = 348 }; /* of a header */

/* Whether a file, of which the first 4 bytes are given, is NIfTI of any version. */
bool sl_is_nifti(const uint8_t *file);

/*
 * Reads a header of SL_NIFTI_BYTES: the type and shape of the items, the edges of a voxel (0 if the
 * header does not state them), and where the items begin in the file. Returns NULL, or what is
 * wrong, as a part of a message.
 */
const char *sl_nifti_header(
	const uint8_t *header, struct sl_npy *a, double edge_mm[3], uint32_t *offset);

/* --- list_source ------------------------------------------------------------------------------ */

/*
 * Reads the particles of lists as records that histories start from (list_source.h of the models).
 */

struct sl_source_config;

/*
 * Counts the particles, and, if data is not NULL, writes as many records as data->list.n says, and
 * the table of their probabilities. The files must be surveyed. SL_BAD_INPUT for a damaged particle,
 * unless they are dropped; key is the key that would do so.
 */
enum sl_status sl_source_read(struct sl_inputs *inputs, const struct sl_source_config *c,
	const char *key, struct sl_rules_data *data, struct sl_source_counts *n);

/* --- renamed_blobs ---------------------------------------------------------------------------- */

/*
 * The blobs of input lists that have another name in the output files.
 *
 * A blob is a named block of bytes in the header of a list. If two lists have different blobs of
 * one name, the output files keep both, and the name of the later one gets a suffix
 * (mcpl.h).
 */

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
