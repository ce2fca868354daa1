/*
 * openpmd_join.c - packs the survivors of a whole run, block by block, for one openPMD file.
 *
 * The only part has the chunks of all columns. A block has whole chunks of each column, but for the
 * last block. The index of the file says where the chunks of a column are, so their order has no
 * meaning: they are in that of ORDER_ROWS rows after another.
 */
#include <math.h>
#include <string.h>

#include "primitives/base/jobs.h"
#include "primitives/files/files.h"
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/openpmd/openpmd.h"
#include "stages/particle/digest.h"

/* Rows whose chunks follow one another, those of a column after those of the column before. */
enum { ORDER_ROWS = 1 << 17 };

enum { SURVEY_ROWS = 1 << 16 }; /* that a task adds to the digests */

/* A column that is not constant. */
struct join_column {
	uint32_t room; /* items of a full chunk; 0: the column is constant */
	size_t next;   /* number of the first chunk of the block */
	bool planes;   /* chunks are shuffled */
};

/* Chunk i of column k in the block. */
struct join_task {
	uint32_t k, i;
};

struct openpmd_join {
	struct sl_openpmd_pieces pieces;
	struct join_column column[SL_COLUMN_COUNT];
	struct join_task *task; /* of the block, in the order of the file */
	uint8_t *bytes;         /* a chunk for each worker, SL_OPENPMD_CHUNK_BYTES */
	uint32_t *crc_of;       /* of these */
	size_t used;            /* bytes of the part */
	uint32_t crc;           /* of these */
	uint64_t rows;          /* added */
	uint64_t digest[SL_COLUMN_COUNT];
};

/* The chunks of a column in a block of n rows. */
static uint32_t chunks_in(const struct join_column *c, uint32_t n)
{
	return c->room ? (uint32_t)sl_ceil_div(n, c->room) : 0;
}

static void lay_out(struct sl_arena *a, struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)sl_cut_items(a, 1, sizeof(*own));
	struct openpmd_join made = {.used = 0};
	uint32_t tasks = 0;

	for (uint32_t k = 0; k < j->all.n_columns; k++) {
		const uint32_t item = sl_facts_of(&j->all.column[k])->bytes;
		struct join_column *c = &made.column[k];

		if (j->all.column[k].constant || j->all.n == 0)
			continue;
		c->room = sl_openpmd_chunk_items(j->all.n, item);
		c->next = made.pieces.n_chunks;
		tasks += chunks_in(c, sl_join_rows(j->rows));
		made.pieces.n_chunks += sl_openpmd_chunks(j->all.n, item);
	}
	made.pieces.chunk = (struct sl_openpmd_chunk *)sl_cut_items(
		a, made.pieces.n_chunks, sizeof(*made.pieces.chunk));
	made.task = (struct join_task *)sl_cut_items(a, tasks, sizeof(*made.task));
	made.bytes = (uint8_t *)sl_cut_items(a, j->n_workers, SL_OPENPMD_CHUNK_BYTES);
	made.crc_of = (uint32_t *)sl_cut_items(a, j->n_workers, sizeof(*made.crc_of));
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

/* The items of a chunk. */
static struct sl_openpmd_stretch items_of(const struct sl_joined_file *j, const struct join_task *t)
{
	const struct join_column *c = &((const struct openpmd_join *)j->own)->column[t->k];
	const uint32_t from = t->i * c->room, left = j->block->n - from;

	return (struct sl_openpmd_stretch){
		&j->block->column[t->k], from, left < c->room ? left : c->room, c->planes};
}

/* Task: makes a chunk of a column. */
static enum sl_status make_chunk(void *joined, uint32_t worker, uint32_t t)
{
	const struct sl_joined_file *j = (const struct sl_joined_file *)joined;
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const struct join_task *task = &own->task[t];
	const struct join_column *c = &own->column[task->k];
	const struct sl_openpmd_stretch s = items_of(j, task);
	struct sl_openpmd_chunk *chunk = &own->pieces.chunk[c->next + task->i];
	uint8_t *bytes = own->bytes + (size_t)worker * SL_OPENPMD_CHUNK_BYTES;

	SL_TRY(sl_add_context(
		sl_openpmd_pack_chunk(&j->worker[worker], j->run, &s, c->room, bytes, chunk),
		"column %s", sl_table_name(j->block, task->k)));
	own->crc_of[worker] = sl_crc32(bytes, chunk->bytes);
	return SL_OK;
}

/* Puts the chunk. */
static enum sl_status put_chunk(void *joined, uint32_t worker, uint32_t t)
{
	struct sl_joined_file *j = (struct sl_joined_file *)joined;
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const struct join_task *task = &own->task[t];
	struct sl_openpmd_chunk *chunk = &own->pieces.chunk[own->column[task->k].next + task->i];

	chunk->at = own->used;
	own->used += chunk->bytes;
	own->crc = sl_crc32_combine(own->crc, own->crc_of[worker], chunk->bytes);
	j->written.values += items_of(j, task).n;
	return j->put(
		j->context, 0, own->bytes + (size_t)worker * SL_OPENPMD_CHUNK_BYTES, chunk->bytes);
}

/*
 * Surveys a column: extends the box by positions. Before the first block, it is decided by the first
 * items of the column whether its chunks are shuffled.
 */
static enum sl_status survey_column(const struct sl_joined_file *j, struct sl_exec *x, uint32_t k)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	struct join_column *c = &own->column[k];
	const struct sl_table_column *column = &j->block->column[k];
	const uint32_t n = j->block->n;
	struct sl_openpmd_stretch s = {column, 0, n < c->room ? n : c->room, c->planes};
	const int axis = (int)column->column - (int)SL_COLUMN_x;
	double lo, hi;

	if (own->rows == 0 && c->room)
		SL_TRY(sl_openpmd_choose_planes(x, j->run, &s));
	c->planes = s.planes;
	if (axis < 0 || axis > 2)
		return SL_OK;
	sl_openpmd_bound(column, n, &lo, &hi);
	own->pieces.lo[axis] = fmin(own->pieces.lo[axis], lo);
	own->pieces.hi[axis] = fmax(own->pieces.hi[axis], hi);
	return SL_OK;
}

/* Task: surveys a column, or adds some rows to the digests. */
static enum sl_status survey(void *joined, uint32_t worker, uint32_t t)
{
	const struct sl_joined_file *j = (const struct sl_joined_file *)joined;
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const uint32_t from = (t - j->all.n_columns) * SURVEY_ROWS;
	uint64_t digest[SL_COLUMN_COUNT] = {0};
	struct sl_table rows = *j->block;

	if (t < rows.n_columns)
		return survey_column(j, &j->worker[worker], t);
	rows.n = rows.n - from < SURVEY_ROWS ? rows.n - from : SURVEY_ROWS;
	for (uint32_t k = 0; k < rows.n_columns; k++)
		if (!rows.column[k].constant)
			rows.column[k].data = (char *)rows.column[k].data +
			                      (size_t)from * sl_facts_of(&rows.column[k])->bytes;
	sl_digest_add_rows(&rows, own->rows + from, digest);
	for (uint32_t k = 0; k < rows.n_columns; k++)
		__atomic_fetch_add(&own->digest[k], digest[k], __ATOMIC_RELAXED);
	return SL_OK;
}

/*
 * Lists the chunks of the block, each among the ORDER_ROWS rows in which it ends; those that are not
 * full come last.
 */
static uint32_t list_tasks(const struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const uint32_t n = j->block->n;
	uint32_t tasks = 0;

	for (uint32_t from = 0; from < n; from += ORDER_ROWS)
		for (uint32_t k = 0; k < j->all.n_columns; k++) {
			const uint32_t room = own->column[k].room,
				       to = n - from < ORDER_ROWS ? n : from + ORDER_ROWS;

			for (uint32_t i = room ? from / room : 0; room && (i + 1) * room <= to; i++)
				own->task[tasks++] = (struct join_task){k, i};
		}
	for (uint32_t k = 0; k < j->all.n_columns; k++)
		if (own->column[k].room && n % own->column[k].room)
			own->task[tasks++] = (struct join_task){k, n / own->column[k].room};
	return tasks;
}

static enum sl_status add(struct sl_joined_file *j)
{
	struct openpmd_join *own = (struct openpmd_join *)j->own;
	const uint32_t n = j->block->n;

	SL_TRY(sl_tasks_run(j->pool, j->n_workers,
		j->all.n_columns + (uint32_t)sl_ceil_div(n, SURVEY_ROWS), survey, j));
	own->rows += n;
	SL_TRY(sl_tasks_in_order(j->pool, j->n_workers, list_tasks(j), make_chunk, put_chunk, j));
	for (uint32_t k = 0; k < j->all.n_columns; k++)
		own->column[k].next += chunks_in(&own->column[k], n);
	return SL_OK;
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

const struct sl_format_join sl_openpmd_join = {.before = SL_H5_HEAD_BYTES,
	.lay_out = lay_out,
	.begin = begin,
	.add = add,
	.packed = packed};
