/*
 * openpmd_locate.h - finds the columns of an openPMD file of this program: where their chunks are.
 *
 * It calls HDF5, so it runs in a child process (hdf5_child.h). Its result is what a file states, not
 * what is true: openpmd_read.c checks each number before it uses it.
 */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_LOCATE_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_LOCATE_H

#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/formats/openpmd/openpmd.h"

/* A chunk of a column. */
struct sl_openpmd_place {
	uint64_t at, bytes; /* offset in the file and size, compressed */
	uint32_t skipped;   /* HDF5's filter mask: bit i is set if filter i was not applied */
};

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
	struct sl_openpmd_place chunk[]; /* of all columns that are not constant */
};

/* Chunks for which a block of size bytes has room. */
static inline size_t sl_openpmd_chunk_room(size_t size)
{
	return (size - sizeof(struct sl_openpmd_found)) / sizeof(struct sl_openpmd_place);
}

sl_h5_reader sl_openpmd_locate;

/* Fails with SL_BAD_INPUT; problem says what is wrong with the file. */
enum sl_status sl_openpmd_damaged(const char *problem);

#endif
