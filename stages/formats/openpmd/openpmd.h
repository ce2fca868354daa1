/*
 * openpmd.h - the layout of an openPMD file: what packing, assembling and reading share.
 *
 * 	/                                      openPMD, basePath, software, sluiceSeed, ...
 * 	/sluiceConfig                          the effective configuration, as text
 * 	/data/17/                              the batch
 * 	/data/17/particles/photons/            the species: the survivors
 * 	    id  energy  weighting  fate  ...   scalar records
 * 	    position/x  direction/z  ...       components of vector records
 * 	    positionOffset/x  ...              0, required by the standard
 * 	    particlePatches/                   one patch: the bounding box of all positions
 *
 * A component is a dataset of n items in chunks. If it has the same value in the whole run, it is
 * an empty group with the attributes value and shape. The file ends with a checksum line that HDF5
 * ignores (sl_crc_trailer_add()). (openPMD standard 1.1.0, doi 10.5281/zenodo.1167843.).
 */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "stages/formats/common/format.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/particle/table.h"

SL_C_BEGIN

/* --- openpmd ---------------------------------------------------------------------------------- */

extern const struct sl_format sl_format_openpmd;

/* Bytes of a full chunk before compression: the default size of HDF5's chunk cache. */
enum { SL_OPENPMD_CHUNK_BYTES = 1 << 20 };

/* A chunk, compressed. */
struct sl_openpmd_chunk {
	size_t at, bytes; /* offset, in sl_packed.bytes or in a file that is read, and size */
	uint64_t skipped; /* HDF5's filter mask: bit i is set if filter i was not applied */
};

/* What sl_packed.pieces points to. */
struct sl_openpmd_pieces {
	double lo[3], hi[3];                /* least and greatest x, y, z; lo > hi: none */
	uint64_t constant[SL_COLUMN_COUNT]; /* values of constant columns, by index in the table */
	struct sl_openpmd_chunk *chunk;     /* of all columns that are not constant, in order */
	size_t n_chunks;                    /* chunks allocated */
};

/* Items per chunk of a column of n > 0 rows. */
static inline uint32_t sl_openpmd_chunk_items(uint32_t n, uint32_t item_bytes)
{
	return sl_chunk_items(n, item_bytes, SL_OPENPMD_CHUNK_BYTES);
}

/* Chunks of a column of n rows, which may be 0. */
static inline size_t sl_openpmd_chunks(uint32_t n, uint32_t item_bytes)
{
	return n ? (size_t)sl_ceil_div(n, sl_openpmd_chunk_items(n, item_bytes)) : 0;
}

/* The number of chunks of a table, and their bytes without compression. */
size_t sl_openpmd_count_chunks(const struct sl_table *t, size_t *bytes);

/* Filters of a column, in order: shuffle (only of items of more than one byte), deflate. */
static inline bool sl_openpmd_shuffles(const struct sl_column_facts *f)
{
	return f->bytes > 1;
}

/* The bits of these filters in the mask of skipped filters. */
static inline uint32_t sl_openpmd_shuffle_skipped(const struct sl_column_facts *f)
{
	return sl_openpmd_shuffles(f) ? 1 : 0;
}

static inline uint32_t sl_openpmd_deflate_skipped(const struct sl_column_facts *f)
{
	return sl_openpmd_shuffles(f) ? 2 : 1;
}

/* HDF5's type of a column's items, both in the file and in memory. */
hid_t sl_openpmd_type(enum sl_column_type type);

/* Prints the path of column k of a table in the file; returns its length as snprintf does. */
size_t sl_openpmd_path(char *path, size_t size, uint64_t number, const char *species,
	const struct sl_table *t, uint32_t k);

/* The record of a column: its name in columns.def, or that of a named column. */
const char *sl_openpmd_record(const struct sl_table *t, enum sl_column column);

/* Attributes of a named column: its number among them, from 0, and its unit. */
#define SL_OPENPMD_NAMED "sluiceNamedColumn"
#define SL_OPENPMD_UNIT  "sluiceUnit"

/* --- openpmd_chunk ---------------------------------------------------------------------------- */

/* Compresses some items of a column to a chunk, shuffled and deflated. */

/* Items first .. first + n - 1 of a column; planes: they are shuffled. */
struct sl_openpmd_stretch {
	const struct sl_table_column *c;
	uint32_t first, n;
	bool planes;
};

/* Bytes of scratch of the compressor for any chunk. */
size_t sl_openpmd_chunk_scratch(const struct sl_file_facts *run);

/* Sets s->planes: decides by the first items of a column whether to shuffle its bytes. */
enum sl_status sl_openpmd_choose_planes(
	struct sl_exec *x, const struct sl_file_facts *run, struct sl_openpmd_stretch *s);

/*
 * Makes a chunk of room items, at most SL_OPENPMD_CHUNK_BYTES, in out, stored if compression does
 * not shorten it. Sets bytes and skipped of *chunk.
 */
enum sl_status sl_openpmd_pack_chunk(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_openpmd_stretch *s, uint32_t room, uint8_t *out,
	struct sl_openpmd_chunk *chunk);

/*
 * The least and greatest value of a column of positions, without NaNs; infinities if there is none.
 */
void sl_openpmd_bound(const struct sl_table_column *c, uint32_t n, double *lo, double *hi);

extern const struct sl_format_join sl_openpmd_join; /* openpmd_join.c */

/* --- openpmd_read ----------------------------------------------------------------------------- */

/* Reads the columns of an openPMD file that this program wrote (format.h, read). */

enum sl_status sl_openpmd_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* --- openpmd_write ---------------------------------------------------------------------------- */

/* Makes the HDF5 file of a packed batch (format.h, image and assemble). */

size_t sl_openpmd_image_bytes(const struct sl_table *most, const struct sl_file_facts *run);
enum sl_status sl_openpmd_assemble(const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file);

/* --- openpmd_locate --------------------------------------------------------------------------- */

/*
 * Finds the columns of an openPMD file of this program: where their chunks are.
 *
 * It calls HDF5, so it runs in a child process (hdf5_child.h). Its result is what a file states,
 * not what is true: openpmd_read.c checks each number before it uses it.
 */

/* Bytes of the text of a unit. */
enum { SL_OPENPMD_UNIT_BYTES = 16 };

struct sl_openpmd_column {
	uint8_t exists, constant, has_digest; /* 0: no; not bool, as a crash may leave any byte */
	uint64_t value;                       /* of a constant column, in the first bytes */
	uint64_t digest;                      /* of the values, as the file states it */
};

/* The block that the child fills. */
struct sl_openpmd_found {
	uint64_t n;                                            /* rows */
	struct sl_openpmd_column column[SL_COLUMN_COUNT];      /* by number */
	char name[SL_NAMED_COLUMNS_MAX][SL_COLUMN_NAME_BYTES]; /* of named columns */
	char unit[SL_NAMED_COLUMNS_MAX][SL_OPENPMD_UNIT_BYTES];
	struct sl_openpmd_chunk chunk[]; /* of all columns that are not constant */
};

/* Chunks for which a block of size bytes has room. */
static inline size_t sl_openpmd_chunk_room(size_t size)
{
	return (size - sizeof(struct sl_openpmd_found)) / sizeof(struct sl_openpmd_chunk);
}

sl_h5_reader sl_openpmd_locate;

/* Fails with SL_BAD_INPUT; problem says what is wrong with the file. */
enum sl_status sl_openpmd_damaged(const char *problem);

/* --- xdmf ------------------------------------------------------------------------------------- */

/*
 * The text of an XDMF side file, with which ParaView and VisIt read the openPMD files of a
 * run.
 *
 * It is a temporal collection with one grid of points per batch that has survivors. It contains no
 * data, only paths of datasets in the HDF5 files. Points need the columns x, y and z with a value
 * per row. XDMF 2 is used, because older readers of both programs understand it.
 */

/* Whether files with these columns can be shown as points. */
bool sl_xdmf_possible(const struct sl_table *t);

/* The text before all grids, and after them. */
void sl_xdmf_begin(const char *run_name, FILE *out);
void sl_xdmf_end(FILE *out);

/*
 * The grid of one batch, from the name of its file, its number, and its table (rows, columns, which
 * columns are constant; data is not used). Nothing if the table has no rows.
 */
void sl_xdmf_grid(const char *file, const char *species, uint64_t number, const struct sl_table *t,
	FILE *out);

SL_C_END

#endif
