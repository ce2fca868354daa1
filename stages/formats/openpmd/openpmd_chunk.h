/* openpmd_chunk.h - compresses some items of a column to a chunk, shuffled and deflated. */
#ifndef SL_STAGES_FORMATS_OPENPMD_OPENPMD_CHUNK_H
#define SL_STAGES_FORMATS_OPENPMD_OPENPMD_CHUNK_H

#include "stages/formats/openpmd/openpmd.h"

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
 * Makes a chunk of room items, at most SL_OPENPMD_CHUNK_BYTES, in out, stored if compression does not
 * shorten it. Sets bytes and skipped of *chunk.
 */
enum sl_status sl_openpmd_pack_chunk(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_openpmd_stretch *s, uint32_t room, uint8_t *out,
	struct sl_openpmd_chunk *chunk);

/* The least and greatest value of a column of positions, without NaNs; infinities if there is none. */
void sl_openpmd_bound(const struct sl_table_column *c, uint32_t n, double *lo, double *hi);

extern const struct sl_format_join sl_openpmd_join; /* openpmd_join.c */

#endif
