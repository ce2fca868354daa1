/*
 * openpmd_join.c - packs the survivors of a whole run, block by block, for one openPMD file.
 *
 * The only part has the chunks of all columns in the order in which they became full. The index of
 * the file says where the chunks of a column are, so their order has no meaning.
 */
#include <math.h>
#include <string.h>

#include "primitives/files/crc32.h"
#include "stages/formats/openpmd/openpmd.h"
#include "stages/particle/digest.h"

/* A column whose chunk is being filled. */
struct join_column {
	uint8_t *items;                /* NULL: constant */
	uint32_t used, room;           /* items in the chunk; of a full chunk */
	struct sl_openpmd_chunk *next; /* where the next chunk is recorded */
	bool planes, chosen;           /* chunks are shuffled; that is decided */
};

struct openpmd_join {
	struct sl_openpmd_pieces pieces;
	struct join_column column[SL_COLUMN_COUNT];
	uint8_t *chunk; /* a compressed chunk */
	size_t used;    /* bytes of the part */
	uint32_t crc;   /* of these */
	uint64_t rows;  /* added */
	uint64_t digest[SL_COLUMN_COUNT];
};

static uint32_t parts(const struct sl_table *all)
{
	(void)all;
	return 1;
}

/* The buffer of a column, and the records of all of its chunks. */
static void lay_out_column(
	struct sl_arena *a, const struct sl_table *all, uint32_t k, struct openpmd_join *made)
{
	uint32_t item = sl_facts_of(&all->column[k])->bytes;
	size_t chunks = sl_openpmd_chunks(all->n, item);
	struct join_column *c = &made->column[k];

	if (all->column[k].constant)
		return;
	c->room = all->n ? sl_openpmd_chunk_items(all->n, item) : 0;
	c->items = (uint8_t *)sl_cut_items(a, c->room, item);
	made->pieces.n_chunks += chunks;
}

static void lay_out(struct sl_arena *a, struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)sl_cut_items(a, 1, sizeof(*own));
	struct openpmd_join made = {.used = 0};
	size_t chunks = 0;

	for (uint32_t k = 0; k < j->all.n_columns; k++)
		lay_out_column(a, &j->all, k, &made);
	made.chunk = (uint8_t *)sl_cut(a, SL_OPENPMD_CHUNK_BYTES);
	made.pieces.chunk = (struct sl_openpmd_chunk *)sl_cut_items(
		a, made.pieces.n_chunks, sizeof(*made.pieces.chunk));
	j->x.scratch.size = sl_openpmd_chunk_scratch(j->run);
	j->x.scratch.base = sl_cut(a, j->x.scratch.size);
	for (uint32_t k = 0; made.pieces.chunk && k < j->all.n_columns; k++) {
		made.column[k].next = made.pieces.chunk + chunks;
		if (!j->all.column[k].constant)
			chunks +=
				sl_openpmd_chunks(j->all.n, sl_facts_of(&j->all.column[k])->bytes);
	}
	if (own)
		*own = made;
	j->own = own;
}

/* Sets what does not depend on the rows: the box without positions, and the constants. */
static enum sl_status begin(struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;

	for (int axis = 0; axis < 3; axis++) {
		own->pieces.lo[axis] = INFINITY;
		own->pieces.hi[axis] = -INFINITY;
	}
	for (uint32_t k = 0; k < j->all.n_columns; k++)
		if (j->all.column[k].constant)
			memcpy(&own->pieces.constant[k], j->all.column[k].data,
				sl_facts_of(&j->all.column[k])->bytes);
		else
			j->written.columns++;
	return SL_OK;
}

/* Puts the chunk of column k, which may be the last one and not full. */
static enum sl_status flush(struct sl_joined_file *j, uint32_t k)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	struct join_column *c = &own->column[k];
	struct sl_table_column items = {.column = j->all.column[k].column, .data = c->items};
	struct sl_openpmd_stretch s = {&items, 0, c->used, c->planes};

	if (!c->chosen)
		SL_TRY(sl_openpmd_choose_planes(&j->x, j->run, &s));
	c->planes = s.planes;
	c->chosen = true;
	c->used = 0;
	SL_TRY(sl_openpmd_pack_chunk(&j->x, j->run, &s, c->room, own->chunk, c->next));
	c->next->at = own->used;
	own->used += c->next->bytes;
	j->written.values += s.n;
	own->crc = sl_crc32_update(own->crc, own->chunk, c->next->bytes);
	return j->put(j->context, 0, own->chunk, c->next++->bytes);
}

/* Copies the items of a block to the chunks of column k. */
static enum sl_status add_column(struct sl_joined_file *j, uint32_t k, const struct sl_table *block)
{
	struct join_column *c = &((struct openpmd_join *)j->own)->column[k];
	size_t item = sl_facts_of(&block->column[k])->bytes;

	for (uint32_t from = 0, n; from < block->n; from += n) {
		n = block->n - from < c->room - c->used ? block->n - from : c->room - c->used;
		memcpy(c->items + c->used * item,
			(const uint8_t *)block->column[k].data + from * item, n * item);
		c->used += n;
		if (c->used == c->room)
			SL_TRY(flush(j, k));
	}
	return SL_OK;
}

/* Extends the box of all positions. */
static void extend_box(struct openpmd_join *own, const struct sl_table_column *c, uint32_t n)
{
	int axis = (int)c->column - (int)SL_COLUMN_x;
	double lo, hi;

	if (axis < 0 || axis > 2)
		return;
	sl_openpmd_bound(c, n, &lo, &hi);
	own->pieces.lo[axis] = fmin(own->pieces.lo[axis], lo);
	own->pieces.hi[axis] = fmax(own->pieces.hi[axis], hi);
}

static enum sl_status add(struct sl_joined_file *j, const struct sl_table *block)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;

	sl_digest_add_rows(block, own->rows, own->digest);
	own->rows += block->n;
	for (uint32_t k = 0; k < block->n_columns; k++) {
		extend_box(own, &block->column[k], block->n);
		if (!block->column[k].constant)
			SL_TRY(sl_add_context(
				add_column(j, k, block), "column %s", sl_table_name(block, k)));
	}
	return SL_OK;
}

static enum sl_status end(struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;

	for (uint32_t k = 0; k < j->all.n_columns; k++) {
		j->all.column[k].digest = own->digest[k];
		if (own->column[k].used > 0)
			SL_TRY(sl_add_context(flush(j, k), "column %s", sl_table_name(&j->all, k)));
	}
	return SL_OK;
}

static void packed(struct sl_joined_file *j, const uint8_t *const part[], struct sl_packed *p)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;

	*p = (struct sl_packed){.table = j->all,
		.pieces = &own->pieces,
		.bytes = (uint8_t *)(uintptr_t)part[0],
		.size = own->used,
		.used = own->used,
		.has_crc = true,
		.crc = own->crc};
}

const struct sl_format_join sl_openpmd_join = {.parts = parts,
	.lay_out = lay_out,
	.begin = begin,
	.add = add,
	.end = end,
	.packed = packed};
