/*
 * npz_join.c - packs the survivors of a whole run, block by block, for one npz file.
 *
 * Each column is a part: a DEFLATE stream to which each block of rows adds the stream of its items
 * (deflate_join.h). Constant columns are expanded, as in the file of a batch.
 */
#include <string.h>

#include "primitives/files/crc32.h"
#include "stages/formats/common/deflate_join.h"
#include "stages/formats/tables/tables.h"

/* Bytes of the items of a block in the widest column. */
enum { ITEMS_BYTES = SL_JOIN_ROWS * sizeof(uint64_t) };

struct npz_join {
	struct sl_npz_pieces pieces; /* crc and bytes of each column so far */
	uint8_t *items;              /* of a constant column in a block */
	uint8_t *stream;             /* of a block */
	struct sl_arena scratch;     /* of deflate_join.h */
};

static uint32_t parts(const struct sl_table *all)
{
	return all->n_columns;
}

static size_t stream_bytes(void)
{
	return sl_deflate_most(ITEMS_BYTES, 0, 1);
}

static void lay_out(struct sl_arena *a, struct sl_joined_file *j)
{
	struct sl_shape shape = {
		.in_bytes = ITEMS_BYTES, .level = j->run->level, .most_room = true};
	struct npz_join *own = (struct npz_join *)sl_cut_items(a, 1, sizeof(*own));
	struct npz_join made = {.pieces = {.n = 0}};

	made.items = (uint8_t *)sl_cut(a, ITEMS_BYTES);
	made.stream = (uint8_t *)sl_cut(a, stream_bytes() + SL_DEFLATE_JOIN_BYTES);
	made.scratch.size = sl_deflate_join_scratch(ITEMS_BYTES);
	made.scratch.base = sl_cut(a, made.scratch.size);
	j->x.scratch.size = sl_scratch(j->run->deflate, &shape);
	j->x.scratch.base = sl_cut(a, j->x.scratch.size);
	if (own)
		*own = made;
	j->own = own;
}

/* A column without items is stored, as in the file of a batch. */
static enum sl_status begin(struct sl_joined_file *j)
{
	struct npz_join *own = (struct npz_join *)j->own;

	own->pieces.n = j->written.columns = j->all.n_columns;
	for (uint32_t k = 0; k < own->pieces.n; k++)
		own->pieces.piece[k] = (struct sl_npz_piece){.column = j->all.column[k].column,
			.method = j->rows > 0 ? SL_ZIP_DEFLATED : SL_ZIP_STORED};
	return SL_OK;
}

/* The items of a column in a block. */
static const void *items_of(const struct npz_join *own, const struct sl_table_column *c, uint32_t n)
{
	size_t item = sl_facts_of(c)->bytes;

	for (uint32_t i = 0; c->constant && i < n; i++)
		memcpy(own->items + i * item, c->data, item);
	return c->constant ? own->items : c->data;
}

/* Adds the stream of n items to part k. */
static enum sl_status add_column(
	struct sl_joined_file *j, uint32_t k, const struct sl_table_column *c, uint32_t n)
{
	struct npz_join *own = (struct npz_join *)j->own;
	struct sl_npz_piece *piece = &own->pieces.piece[k];
	const void *items = items_of(own, c, n);
	size_t got, bytes = (size_t)n * sl_facts_of(c)->bytes;
	struct sl_deflate_job job = {.in = items,
		.in_bytes = bytes,
		.out = own->stream,
		.out_size = stream_bytes(),
		.out_bytes = &got,
		.level = j->run->level,
		.wrapper = SL_RAW};

	SL_TRY(sl_deflate(j->run->deflate, &j->x, &job));
	/* fails if the stream has no bytes */
	SL_TRY(sl_deflate_join(own->scratch, own->stream, &got, bytes));
	piece->crc = sl_crc32_update(piece->crc, items, bytes);
	piece->bytes += got;
	j->written.values += n;
	return j->put(j->context, k, own->stream, got);
}

static enum sl_status add(struct sl_joined_file *j, const struct sl_table *block)
{
	for (uint32_t k = 0; k < block->n_columns; k++)
		SL_TRY(sl_add_context(add_column(j, k, &block->column[k], block->n), "column %s",
			sl_table_name(block, k)));
	return SL_OK;
}

static enum sl_status end(struct sl_joined_file *j)
{
	struct npz_join *own = (struct npz_join *)j->own;

	for (uint32_t k = 0; j->rows > 0 && k < own->pieces.n; k++) {
		SL_TRY(j->put(j->context, k, sl_deflate_end, sizeof(sl_deflate_end)));
		own->pieces.piece[k].bytes += sizeof(sl_deflate_end);
	}
	return SL_OK;
}

static void packed(struct sl_joined_file *j, const uint8_t *const part[], struct sl_packed *p)
{
	struct npz_join *own = (struct npz_join *)j->own;

	for (uint32_t k = 0; k < own->pieces.n; k++)
		own->pieces.piece[k].at = part[k];
	*p = (struct sl_packed){.table = j->all, .pieces = &own->pieces};
}

const struct sl_format_join sl_npz_join = {.parts = parts,
	.lay_out = lay_out,
	.begin = begin,
	.add = add,
	.end = end,
	.packed = packed};
