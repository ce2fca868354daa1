/*
 * pieces.h - a file in memory as a list of byte ranges, so that packed data is not copied.
 *
 * A format's assemble function adds the ranges in the order of the file, and the writer writes them
 * in that order. The list keeps the total size and the CRC-32 of the whole file. It does not own
 * the ranges: they must stay valid until the file is written.
 */
#ifndef SL_STAGES_FORMATS_COMMON_PIECES_H
#define SL_STAGES_FORMATS_COMMON_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

/* The npz format has the most: two per column (header, items), and three more at the end. */
enum { SL_PIECES_MAX = 2 * SL_COLUMN_COUNT + 3 };

struct sl_piece {
	const void *at;
	size_t bytes;
};

struct sl_pieces {
	uint32_t n;
	uint32_t crc; /* of all bytes, as sl_crc32() computes it */
	size_t bytes; /* of all pieces */
	struct sl_piece piece[SL_PIECES_MAX];
};

/* Appends a range. A range that starts where the last one ends in memory extends the last one. */
void sl_pieces_add(struct sl_pieces *f, const void *at, size_t bytes);

/* The same for a range whose CRC-32 is known. */
void sl_pieces_add_known(struct sl_pieces *f, const void *at, size_t bytes, uint32_t crc);

/* Copies all ranges, one after another, to a block of f->bytes bytes. */
void sl_pieces_join(const struct sl_pieces *f, void *to);

SL_C_END

#endif
