/*
 * press.h - the columns of a batch, compressed where they are, on a device.
 *
 * Behind the last stage each column of the table that is not constant is cut into chunks, in planes
 * as HDF5 shuffles them, and each chunk becomes a zlib stream. All streams stand one behind
 *another, column by column, and come home in one copy; before it comes a sheet, which says how long
 *they are (lane_press.c). Digests of columns are those of the stage write; the box around positions
 *is found here.
 *
 *	device   | streams | sheet, bytes of each stream | scratch |
 *	pinned   | sheet | sheet |
 */
#ifndef SL_PRESS_H
#define SL_PRESS_H

#include "stages/kernels.h"
#include "stages/recipe.h"

struct sl_press {
	uint8_t *out;
	size_t out_size;
	struct sl_press_sheet *sheet;
	struct sl_press_sheet *seen[2]; /* copies, pinned */
	size_t sheet_bytes;             /* of each */
	struct sl_arena scratch;
};

/* Rows in a chunk of a column of n > 0 rows: all, or as many as a chunk holds. */
static inline uint32_t sl_chunk_items(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	size_t most = chunk_bytes / item_bytes;

	return n < most ? n : (uint32_t)most;
}

/* How many chunks a column of n rows has. */
static inline size_t sl_chunks(uint32_t n, uint32_t item_bytes, size_t chunk_bytes)
{
	return n ? (size_t)sl_ceil_div(n, sl_chunk_items(n, item_bytes, chunk_bytes)) : 0;
}

/* The streams of a table, and the most bytes they may have. */
size_t sl_press_streams(const struct sl_table *t, size_t chunk_bytes);
size_t sl_press_most(const struct sl_table *t, size_t chunk_bytes);

/* Lays out what a batch of at most n rows needs for it; nothing where the recipe has no press. */
void sl_press_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_press *p);

/* Where the streams come home to, pinned. */
void sl_pressed_lay_out(
	struct sl_arena *pinned, const struct sl_recipe *r, uint32_t n, struct sl_pressed *p);

#endif
