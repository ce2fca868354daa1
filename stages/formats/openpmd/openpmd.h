/*
 * openpmd.h - the layout of an openPMD file: what packing, assembling and reading share.
 *
 *	/                                      openPMD, basePath, software, sluiceSeed, ...
 *	/sluiceConfig                          the effective configuration, as text
 *	/data/17/                              the batch
 *	/data/17/particles/photons/            the species: the survivors
 *	    id  energy  weighting  fate  ...   scalar records
 *	    position/x  direction/z  ...       components of vector records
 *	    positionOffset/x  ...              0, required by the standard
 *	    particlePatches/                   one patch: the bounding box of all positions
 *
 * A component is a dataset of n items in chunks. If it has the same value in the whole run, it is an
 * empty group with the attributes value and shape. The file ends with a checksum line that HDF5
 * ignores (crc_trailer.h). (openPMD standard 1.1.0, doi 10.5281/zenodo.1167843.)
 */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_H

#include <hdf5.h>

#include "stages/formats/common/format.h"

extern const struct sl_format sl_format_openpmd;

/* Bytes of a full chunk before compression: the default size of HDF5's chunk cache. */
enum { SL_OPENPMD_CHUNK_BYTES = 1 << 20 };

/* A chunk among the packed bytes. */
struct sl_openpmd_chunk {
	size_t at, bytes; /* offset and size in sl_packed.bytes */
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

/* Chunks of a column of n rows. */
static inline size_t sl_openpmd_chunks(uint32_t n, uint32_t item_bytes)
{
	return sl_chunks(n, item_bytes, SL_OPENPMD_CHUNK_BYTES);
}

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

#endif
