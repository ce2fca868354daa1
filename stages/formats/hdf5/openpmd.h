/*
 * openpmd.h - what packing, assembling and reading of an openPMD file share.
 *
 *	/                                      openPMD, basePath, software, sluiceSeed, ...
 *	/sluiceConfig                          the effective configuration, as text
 *	/data/17/                              the batch
 *	/data/17/particles/photons/            the species: the survivors
 *	    id  energy  weighting  fate  ...   scalar records
 *	    position/x  direction/z  ...       components of vector records
 *	    positionOffset/x  ...              0, as the standard asks
 *	    particlePatches/                   one patch: the box around all positions
 *
 * A component is a dataset of n items in chunks, or, when it has one value in the whole run, an
 * empty group with the attributes value and shape. Behind all that HDF5 knows of stands a seal
 * (crc_trailer.h). (openPMD standard 1.1.0,
 *doi 10.5281/zenodo.1167843.)
 */
#ifndef SL_STAGES_FORMATS_HDF5_OPENPMD_H
#define SL_STAGES_FORMATS_HDF5_OPENPMD_H

#include <hdf5.h>

#include "stages/formats/common/format.h"
#include "stages/formats/common/transfer_form.h"

/* What every reader's chunk cache holds by default. */
enum { SL_OPENPMD_CHUNK_BYTES = 1 << 20 };

/* A chunk among the packed bytes. */
struct sl_openpmd_chunk {
	size_t at, bytes;
	uint32_t skipped; /* HDF5's filter mask: bit i is set when filter i was not applied */
};

/* The pieces of a packed batch. */
struct sl_openpmd_pieces {
	double lo[3], hi[3];                /* the least and the greatest x, y, z */
	uint64_t constant[SL_COLUMN_COUNT]; /* values of constant columns, by place in the table */
	struct sl_openpmd_chunk *chunk;     /* of each column that is not constant, in order */
	size_t n_chunks;                    /* room */
};

/* Items in a chunk of a column of n > 0 rows. */
static inline uint32_t sl_openpmd_chunk_items(uint32_t n, uint32_t item_bytes)
{
	return sl_chunk_items(n, item_bytes, SL_OPENPMD_CHUNK_BYTES);
}

/* How many chunks a column of n rows has. */
static inline size_t sl_openpmd_chunks(uint32_t n, uint32_t item_bytes)
{
	return sl_chunks(n, item_bytes, SL_OPENPMD_CHUNK_BYTES);
}

/* Filters of a column in HDF5's order: shuffle (where an item has more bytes than one), deflate. */
static inline bool sl_openpmd_shuffles(const struct sl_column_facts *f)
{
	return f->bytes > 1;
}

/* Their bits in the mask of those that a chunk has skipped. */
static inline uint32_t sl_openpmd_shuffle_skipped(const struct sl_column_facts *f)
{
	return sl_openpmd_shuffles(f) ? 1 : 0;
}

static inline uint32_t sl_openpmd_deflate_skipped(const struct sl_column_facts *f)
{
	return sl_openpmd_shuffles(f) ? 2 : 1;
}

/* The type of a column's items, in files and in memory. */
hid_t sl_openpmd_type(enum sl_column_type type);

/* The path of a column in a file; returns its length, as snprintf does. */
size_t sl_openpmd_path(
	char *path, size_t size, uint64_t number, const char *species, enum sl_column column);

size_t sl_openpmd_image_bytes(const struct sl_table *most, const struct sl_file_facts *run);
enum sl_status sl_openpmd_assemble(const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file);
enum sl_status sl_openpmd_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
