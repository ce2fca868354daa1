/*
 * format.h - the interface of a file format: how a batch of survivors becomes a file, and back.
 *
 * A file is made in two steps.
 *
 *	pack       compresses the columns of a table. It takes most of the time and runs on the
 *	           thread that computed the batch. If a device has packed the survivors already
 *	           (common.h), it takes them over.
 *	assemble   makes headers, directories and metadata around the packed bytes, which it does
 *	           not copy. It runs on a writer thread.
 *
 * Neither step touches a disk: the result is a list of byte ranges (common.h). Neither step
 * allocates, except HDF5 for its own small objects: the caller provides all memory, and sizes says
 * how much is needed.
 */
#ifndef SL_STAGES_FORMATS_COMMON_FORMAT_H
#define SL_STAGES_FORMATS_COMMON_FORMAT_H

#include <stdint.h>

#include "primitives/primitives.h"
#include "stages/formats/common/common.h"
#include "stages/particle/table.h"

SL_C_BEGIN

struct sl_mcpl_record;
struct sl_mcpl_metadata;

/* What MCPL needs in addition to columns; other formats ignore it. */
struct sl_mcpl_facts {
	bool wide;            /* numbers of 8 bytes, not 4 */
	int32_t pdg;          /* PDG code of all particles; 0: they have a column */
	double energy;        /* of all particles, in keV; NaN: they have a column */
	enum sl_column flags; /* the column of the user flags; SL_COLUMN_COUNT: none */
	double weight; /* of all particles, as headers of lists state it; 0: as in the column */
	const struct sl_mcpl_metadata *metadata; /* of lists that were read, or NULL; not owned */
};

/* Facts that are the same for all files of a run. */
struct sl_file_facts {
	const char *run_name; /* "vandehulst" */
	const char *species;  /* "photons" */
	const char *software_version;
	const char *config; /* the effective configuration as text, which is stored in each file */
	uint64_t seed;
	/*
	 * JSON: the runs that were merged, with seeds and counts, and the sums of the counts
	 * (pipeline/convert/runs.c); NULL: the files are of one run. Then seed is that of the
	 * first.
	 */
	const char *merged;
	uint32_t rules_version;           /* other version: other results from the same seed */
	const struct sl_backend *deflate; /* compressor on the host */
	int level;                        /* of that compressor */
	enum sl_transfer_form form;       /* in which survivors come from the device */
	struct sl_mcpl_facts mcpl;        /* all 0 in another format */
};

/* Facts of one file. */
struct sl_batch_facts {
	uint64_t number; /* of the batch; SL_WHOLE_RUN: the file has the survivors of all batches */
	uint64_t first_id;  /* id of its first generated particle */
	uint64_t generated; /* particles generated, survivors or not */
};

/* In place of the number of a batch. */
#define SL_WHOLE_RUN UINT64_MAX

/*
 * What was written of the rows of a file: each function that appends packed rows counts them. So
 * rows that get lost between the survivors and the file are noticed before the file gets its name.
 */
struct sl_written {
	uint32_t columns; /* that are packed one by one; 1: rows are packed as a whole */
	uint64_t values;  /* rows packed, added up over these columns */
};

/*
 * A packed batch: input of assemble. sl_format_lay_out() cuts its memory from an arena and stores
 * nothing in it: it can be memory that the stages of the batch use before pack.
 */
struct sl_packed {
	struct sl_table table; /* a copy: rows, columns, constants, digests */
	void *pieces;          /* the format's own record of what the bytes are */
	size_t pieces_bytes;   /* bytes allocated for it */
	uint8_t *bytes;        /* packed bytes */
	size_t size;           /* bytes allocated */
	size_t used;           /* bytes used */
	bool has_crc;          /* whether crc is known */
	uint32_t crc;          /* CRC-32 of the used bytes */
	struct sl_written written;
};

struct sl_job_pool;
struct sl_joined_file;
struct sl_format;

/*
 * A file with the survivors of all batches (output.joined) while it is made, in a format of
 * columns. Its rows arrive in blocks, so memory does not depend on their number. What is packed
 * goes to parts, which the caller stores.
 */
struct sl_joined_file {
	const struct sl_format *format;
	const struct sl_file_facts *run;
	uint64_t rows;       /* of the file */
	struct sl_table all; /* its columns, with the values of constant ones; n is at most rows */
	void *own;           /* of the format; cut by lay_out */
	const struct sl_table *block; /* that add packs */
	struct sl_exec *worker;       /* of the tasks that add packs by; each has its scratch */
	uint32_t n_workers;           /* at least 1 */
	struct sl_job_pool *pool;     /* NULL: the caller runs all tasks */
	struct sl_written written;    /* by add; begin sets the columns */

	/* Appends bytes to a part. */
	enum sl_status (*put)(void *context, uint32_t part, const void *bytes, size_t size);
	void *context;
};

/*
 * Rows of a block: a multiple of the items of a chunk of any format. A file of at most SL_PACK_ROWS
 * may be packed as that of a batch.
 */
enum { SL_JOIN_ROWS = 1 << 20, SL_PACK_ROWS = 1 << 17 };

/* Rows of a block of a file of so many rows, but for the last one. */
static inline uint32_t sl_join_rows(uint64_t rows)
{
	return rows < SL_JOIN_ROWS ? (uint32_t)rows : (uint32_t)SL_JOIN_ROWS;
}

/* Cuts j->worker from the arena, and so many bytes of scratch for each worker. */
void sl_join_lay_out(struct sl_arena *a, struct sl_joined_file *j, size_t scratch);

struct sl_format_join {
	/* The number of parts; NULL: one, which begins at byte `before` of the file. */
	uint32_t (*parts)(const struct sl_table *all);

	size_t before;

	/* Cuts the memory of a file from the arena; run, rows and all are set. */
	void (*lay_out)(struct sl_arena *a, struct sl_joined_file *j);

	enum sl_status (*begin)(struct sl_joined_file *j);

	/*
	 * Packs the rows of j->block, the next ones: SL_JOIN_ROWS, fewer in the last block. Its
	 * columns are those of all. After the last of j->rows the parts are complete.
	 */
	enum sl_status (*add)(struct sl_joined_file *j);

	/*
	 * Sets *p, for assemble, to the parts as they were put, which nothing reads. NULL: the part
	 * is the whole file.
	 */
	void (*packed)(struct sl_joined_file *j, const uint8_t *const part[], struct sl_packed *p);
};

/*
 * Reads a file of this program: sets *t to the columns found, with data cut from a. An arena
 * without a base only measures, but *t still gets its rows and columns. Digests are left to the
 * caller. Any other file, and any damage, is SL_BAD_INPUT; in a format without checksums only
 * impossible values are detected. Several threads may read different files, unless the format
 * starts processes.
 *
 * t->only must be set before. Formats of columns decode only these columns; the others get no data.
 */
typedef enum sl_status sl_format_reader(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* Bytes of memory that a format needs. */
struct sl_format_sizes {
	size_t pieces, packed; /* of sl_packed.pieces and sl_packed.bytes */
	size_t scratch;        /* of one call of pack */
	size_t image;          /* that assemble makes at most, in addition to the packed bytes */
};

struct sl_format {
	const char *name;   /* as in output.format, "openpmd" */
	const char *suffix; /* of file names, ".h5" */
	const char *help;   /* one line */

	/* What a device can pack for this format. All 0: nothing. */
	struct sl_device_packing packing;
	bool starts_processes;  /* to read and to assemble files: there must be no threads then */
	const char *no_streams; /* why a device packs no DEFLATE streams for it, "is text" */

	/*
	 * Formats made of records; else NULL. Sets *r to the layout of a record of t, whose data
	 * pointers are ignored; facts are those of struct sl_file_facts.
	 */
	enum sl_status (*record_of)(const struct sl_table *t, const struct sl_mcpl_facts *facts,
		struct sl_mcpl_record *r);

	/* How the survivors of a run become one file, in a format of columns; else NULL. */
	const struct sl_format_join *join;

	/*
	 * What is needed for any table of at most the rows and exactly the columns of most, whose
	 * data pointers are ignored.
	 */
	struct sl_format_sizes (*sizes)(
		const struct sl_table *most, const struct sl_file_facts *run);

	/*
	 * Packs t into p, which has been laid out. If survivors came from the device in another
	 * form than columns, it takes them over: p gets device_packed->bytes, and a stream that is
	 * no shorter than its data is replaced by the data, in place.
	 */
	enum sl_status (*pack)(struct sl_exec *x, const struct sl_file_facts *run,
		const struct sl_table *t, const struct sl_device_packed *device_packed,
		struct sl_packed *p);

	/*
	 * Adds the file of p to *file. What assemble makes is stored in image, a block of size
	 * bytes. image and p must stay valid while *file is used. Any number of threads may
	 * assemble different batches.
	 */
	enum sl_status (*assemble)(const struct sl_file_facts *run,
		const struct sl_batch_facts *batch, const struct sl_packed *p, void *image,
		size_t size, struct sl_pieces *file);

	sl_format_reader *read;
};

/*
 * Cuts from the arena what sizes of the format says for packed bytes, and sets *p. An arena without
 * a base only measures.
 */
void sl_format_lay_out(const struct sl_format *f, struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p);

/*
 * Calls pack of the format; device_packed may be NULL. SL_USAGE if the table needs more bytes than
 * were laid out, or if x has less scratch than it needs.
 */
enum sl_status sl_format_pack(const struct sl_format *f, struct sl_exec *x,
	const struct sl_file_facts *run, const struct sl_table *t,
	const struct sl_device_packed *device_packed, struct sl_packed *p);

/* Sets *file to the file of p by assemble of the format. SL_USAGE if the image is too small. */
enum sl_status sl_format_assemble(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file);

/*
 * The columns that a file of the format has: those of t without internal ones. A format of records
 * gets all, because internal columns lead to source records.
 */
struct sl_table sl_format_table(const struct sl_format *f, const struct sl_table *t);

/*
 * For read: the column of that name, which is not terminated. A name that no column has becomes
 * that of the next named column of t. SL_COLUMN_COUNT if it cannot be one, or if t has all of them.
 */
enum sl_column sl_table_column_named(struct sl_table *t, const char *name, size_t length);

/* The columns of a list of particles of any program, in the order in which they are shown. */
enum { SL_LISTED_COLUMNS = 14 };
extern const enum sl_column sl_listed_columns[SL_LISTED_COLUMNS];

/* The one of these with that name, which is not terminated; SL_COLUMN_COUNT if there is none. */
enum sl_column sl_list_column(const char *name, size_t length);

/* Stores a number in a row of such a column; false if its type cannot hold the number. */
bool sl_store_number(const struct sl_table_column *c, uint32_t row, double value);

/*
 * Reads a file into memory that it allocates: *used bytes in *block, which the caller frees; NULL
 * after a failure. t->only must be set before.
 */
enum sl_status sl_format_load(sl_format_reader *read, const void *file, size_t bytes,
	struct sl_table *t, void **block, size_t *used);

/* Whether read is to give values to the column of that name. */
bool sl_table_wants(const struct sl_table *t, const char *name);

/* For read: *t becomes empty, but for the columns that are wanted. */
void sl_read_begin(struct sl_table *t);

/*
 * For read: memory for the n items of column k of t, one if it is constant; NULL when measuring,
 * and if the column is not wanted.
 */
void *sl_read_cut(struct sl_arena *a, const struct sl_table *t, uint32_t k);

/* For pack: nothing of t is packed yet; columns is that of struct sl_written. */
void sl_packed_begin(struct sl_packed *p, const struct sl_table *t, uint32_t columns);

/* For pack: the next bytes of p are packed rows, of one column or as a whole. */
static inline void sl_packed_add(struct sl_packed *p, size_t bytes, uint32_t rows)
{
	p->used += bytes;
	p->written.values += rows;
}

/* For pack: the bytes of p are those of the device. */
static inline void sl_packed_take(struct sl_packed *p, const struct sl_device_packed *device_packed)
{
	p->bytes = device_packed->bytes;
	p->size = device_packed->most;
	p->has_crc = device_packed->has_crc;
	p->crc = device_packed->crc;
}

/*
 * For whoever writes a file, before it gets its name: SL_INTERNAL if not each of so many rows was
 * written.
 */
enum sl_status sl_format_check_written(const struct sl_written *w, uint64_t rows);

/*
 * Compresses to one stream by the compressor of the run, and sets *used to its bytes. out has
 * sl_deflate_most(bytes, 0, 1) bytes. SL_INTERNAL if these are too few, so *used is never 0.
 */
enum sl_status sl_format_deflate(struct sl_exec *x, const struct sl_file_facts *run,
	enum sl_wrapper wrapper, const void *in, size_t bytes, void *out, size_t *used);

/* For assemble: appends the packed bytes to a file. */
void sl_format_add_packed(struct sl_pieces *file, const struct sl_packed *p);

/* For read: SL_USAGE if columns were cut from an arena that has a base but too few bytes. */
enum sl_status sl_format_check_columns(const struct sl_arena *a);

/*
 * Prints the name of a batch's file, "vandehulst_000017.h5", and returns its length. The name is
 * cut if the length is not below size.
 */
size_t sl_file_name(
	char *name, size_t size, const char *run_name, uint64_t number, const char *suffix);

SL_C_END

#endif
