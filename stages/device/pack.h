/*
 * pack.h - survivors are packed where they are, on a device: what comes home is less, and as files
 * have it.
 *
 * Behind the last stage the table becomes parts: each column is one, those of one value only where
 * the format wants them, and filled in for it; or, for a format that is made of records, all of
 * these are (formats/mcpl_record.h). Records come home as they are, or else each part is cut into
 * chunks, in planes if the format wants them, and each chunk becomes a stream of DEFLATE. Streams
 * stand one behind another, part by part, and come home in one copy; before it comes a sheet, which
 * says how long they are (pack_run.c). Digests of columns are those of the stage write; the box
 * around positions is found here, of columns.
 *
 *	device   | records, or a column of one value | streams | scratch |
 *	         | sheet, bytes of each stream |
 *	pinned   | sheet | sheet |
 */
#ifndef SL_STAGES_DEVICE_PACK_H
#define SL_STAGES_DEVICE_PACK_H

#include "stages/device/kernels.h"
#include "stages/batch/recipe.h"

struct sl_pack {
	uint32_t *records; /* NULL: parts are columns */
	uint64_t *filled;  /* those of one value, in turn */
	uint8_t *out;      /* what comes home: streams, or the records */
	size_t out_size;
	struct sl_pack_size_header *sheet;
	struct sl_pack_size_header *seen[2]; /* copies, pinned */
	size_t sheet_bytes;                  /* of each */
	struct sl_arena scratch;
};

/* What is compressed by itself. */
struct sl_pack_part {
	const void *at;
	const void *value; /* of a column that is to be filled in there; else NULL */
	size_t bytes, chunk_bytes;
	uint32_t item_bytes; /* of a plane's items; 1: there are no planes */
	const char *name;    /* of a column, or "records" */
};

/* Rows in a chunk of a part of n > 0 rows: all, or as many as a chunk holds. */
static inline uint32_t sl_chunk_items(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	size_t most = chunk_bytes / item_bytes;

	return n < most ? n : (uint32_t)most;
}

/* How many chunks a part of n rows has. */
static inline size_t sl_chunks(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	return n ? (size_t)sl_ceil_div(n, sl_chunk_items(n, item_bytes, chunk_bytes)) : 0;
}

/* The parts of a table, and where they are; p may be NULL, to measure. Returns how many. */
uint32_t sl_pack_parts(const struct sl_pack_rule *rule, const struct sl_table *t,
	const struct sl_pack *p, struct sl_pack_part part[SL_COLUMN_COUNT]);

/* The streams that a table becomes, and the most bytes that come home. */
size_t sl_pack_streams(const struct sl_pack_rule *rule, const struct sl_table *t);
size_t sl_pack_most(const struct sl_pack_rule *rule, const struct sl_table *t);

/* Lays out what a batch of at most n rows needs for it, where columns are not the form. */
void sl_pack_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_pack *p);

/* Where what was pressed comes home to, pinned. */
void sl_device_packed_lay_out(
	struct sl_arena *pinned, const struct sl_recipe *r, uint32_t n, struct sl_device_packed *p);

#endif
