/*
 * openpmd_join.c - packs the survivors of a whole run, block by block, for one openPMD file.
 *
 * The only part has the chunks of all columns. A block has whole chunks of each column, but for the
 * last block. The index of the file says where the chunks of a column are, so their order has no
 * meaning: they are in that of ORDER_ROWS rows after another.
 */
#include <math.h>
#include <string.h>

#include "primitives/files/files.h"
#include "stages/formats/openpmd/openpmd.h"
#include "stages/particle/digest.h"

/* Rows whose chunks follow one another, those of a column after those of the column before. */
enum { ORDER_ROWS = 1 << 17 };

/* A column that is not constant. */
struct join_column {
	uint32_t room;                 /* items of a full chunk */
	uint32_t first;                /* its first task in a block */
	uint8_t *bytes;                /* the chunks of a block, compressed, each in chunk_room */
	struct sl_openpmd_chunk *next; /* where the next chunk is recorded */
	bool planes;                   /* chunks are shuffled */
};

struct openpmd_join {
	struct sl_openpmd_pieces pieces;
	struct join_column column[SL_COLUMN_COUNT];
	uint32_t varies[SL_COLUMN_COUNT],
		n_varies; /* numbers of the columns that are not constant */
	size_t used;      /* bytes of the part */
	uint32_t crc;     /* of these */
	uint64_t rows;    /* added */
	uint64_t digest[SL_COLUMN_COUNT];
};

static uint32_t parts(const struct sl_table *all)
{
	(void)all;
	return 1;
}

/* The chunks of a column in a block of n rows. */
static uint32_t chunks_in(const struct join_column *c, uint32_t n)
{
	return c->room ? (uint32_t)sl_ceil_div(n, c->room) : 0;
}

static void lay_out(struct sl_arena *a, struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)sl_cut_items(a, 1, sizeof(*own));
	struct openpmd_join made = {.used = 0};
	const uint32_t rows = sl_join_rows(j->rows);
	size_t before[SL_COLUMN_COUNT];

	for (uint32_t k = 0; k < j->all.n_columns; k++) {
		const uint32_t item = sl_facts_of(&j->all.column[k])->bytes;
		struct join_column *c = &made.column[k];

		if (j->all.column[k].constant)
			continue;
		made.varies[made.n_varies++] = k;
		c->room = j->all.n ? sl_openpmd_chunk_items(j->all.n, item) : 0;
		c->bytes = (uint8_t *)sl_cut_items(a, chunks_in(c, rows), (size_t)c->room * item);
		before[k] = made.pieces.n_chunks;
		made.pieces.n_chunks += sl_openpmd_chunks(j->all.n, item);
	}
	made.pieces.chunk = (struct sl_openpmd_chunk *)sl_cut_items(
		a, made.pieces.n_chunks, sizeof(*made.pieces.chunk));
	for (uint32_t i = 0; made.pieces.chunk && i < made.n_varies; i++)
		made.column[made.varies[i]].next = made.pieces.chunk + before[made.varies[i]];
	sl_join_lay_out(a, j, sl_openpmd_chunk_scratch(j->run));
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

/* Task: decides by the first items of a column whether its chunks are shuffled. */
static enum sl_status choose_planes(struct sl_joined_file *j, struct sl_exec *x, uint32_t t)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	struct join_column *c = &own->column[own->varies[t]];
	struct sl_openpmd_stretch s = {&j->block->column[own->varies[t]], 0,
		j->block->n < c->room ? j->block->n : c->room, false};

	SL_TRY(sl_openpmd_choose_planes(x, j->run, &s));
	c->planes = s.planes;
	return SL_OK;
}

/* The column of task t. */
static uint32_t column_of(const struct openpmd_join *own, uint32_t t)
{
	uint32_t i = own->n_varies - 1;

	while (own->column[own->varies[i]].first > t)
		i--;
	return own->varies[i];
}

/* Task: makes a chunk of a column. */
static enum sl_status make_chunk(struct sl_joined_file *j, struct sl_exec *x, uint32_t t)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const uint32_t k = column_of(own, t);
	const struct join_column *c = &own->column[k];
	const struct sl_table_column *column = &j->block->column[k];
	const uint32_t i = t - c->first, from = i * c->room, left = j->block->n - from;
	struct sl_openpmd_stretch s = {column, from, left < c->room ? left : c->room, c->planes};

	return sl_add_context(
		sl_openpmd_pack_chunk(x, j->run, &s, c->room,
			c->bytes + (size_t)i * c->room * sl_facts_of(column)->bytes, &c->next[i]),
		"column %s", sl_table_name(j->block, k));
}

/* Puts the chunks of column k that end in the rows from from to to of the block. */
static enum sl_status put_chunks(struct sl_joined_file *j, uint32_t k, uint32_t from, uint32_t to)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	struct join_column *c = &own->column[k];
	const size_t chunk_bytes = (size_t)c->room * sl_facts_of(&j->block->column[k])->bytes;

	for (uint32_t i = from / c->room; (i + 1) * (uint64_t)c->room <= to; i++) {
		struct sl_openpmd_chunk *chunk = &c->next[i];
		const uint8_t *bytes = c->bytes + i * chunk_bytes;

		chunk->at = own->used;
		own->used += chunk->bytes;
		own->crc = sl_crc32_update(own->crc, bytes, chunk->bytes);
		SL_TRY(j->put(j->context, 0, bytes, chunk->bytes));
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

/* Puts the chunks of the block; those that are not full come last. */
static enum sl_status put_block(struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const uint32_t n = j->block->n;

	for (uint32_t from = 0; from < n; from += ORDER_ROWS)
		for (uint32_t i = 0; i < own->n_varies; i++)
			SL_TRY(put_chunks(j, own->varies[i], from,
				n - from < ORDER_ROWS ? n : from + ORDER_ROWS));
	for (uint32_t i = 0; i < own->n_varies; i++) {
		struct join_column *c = &own->column[own->varies[i]];
		const uint32_t all = chunks_in(c, n), full = n / c->room;

		if (all > full)
			SL_TRY(put_chunks(j, own->varies[i], full * c->room, (full + 1) * c->room));
		c->next += all;
		j->written.values += n;
	}
	return SL_OK;
}

static enum sl_status add(struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const struct sl_table *block = j->block;
	uint32_t tasks = 0;

	sl_digest_add_rows(block, own->rows, own->digest);
	for (uint32_t k = 0; k < block->n_columns; k++)
		extend_box(own, &block->column[k], block->n);
	for (uint32_t i = 0; i < own->n_varies; i++) {
		struct join_column *c = &own->column[own->varies[i]];

		c->first = tasks;
		tasks += chunks_in(c, block->n);
	}
	if (own->rows == 0)
		SL_TRY(sl_join_run(j, own->n_varies, choose_planes));
	own->rows += block->n;
	SL_TRY(sl_join_run(j, tasks, make_chunk));
	return put_block(j);
}

static void packed(struct sl_joined_file *j, const uint8_t *const part[], struct sl_packed *p)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;

	for (uint32_t k = 0; k < j->all.n_columns; k++)
		j->all.column[k].digest = own->digest[k];
	*p = (struct sl_packed){.table = j->all,
		.pieces = &own->pieces,
		.bytes = (uint8_t *)(uintptr_t)part[0],
		.size = own->used,
		.used = own->used,
		.has_crc = true,
		.crc = own->crc};
}

const struct sl_format_join sl_openpmd_join = {
	.parts = parts, .lay_out = lay_out, .begin = begin, .add = add, .packed = packed};
