/*
 * npz_join.c - packs the survivors of a whole run, block by block, for one npz file.
 *
 * Each column is a part: a DEFLATE stream to which each STREAM_ROWS rows add the stream of their
 * items (sl_deflate_join()). Constant columns are expanded, as in the file of a batch.
 */
#include <string.h>

#include "primitives/base/jobs.h"
#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/tables/tables.h"

enum { STREAM_ROWS = 1 << 17 }; /* of a stream */

/* What a worker makes: the stream of some items of a column. */
struct npz_stream {
	uint8_t *bytes;
	size_t used;
	uint32_t crc; /* of the items */
};

struct npz_join {
	struct sl_npz_pieces pieces; /* crc and bytes of each column so far */
	struct npz_stream *stream;   /* of each worker */
};

static uint32_t parts(const struct sl_table *all)
{
	return all->n_columns;
}

static size_t items_bytes(const struct sl_table_column *c, uint32_t rows)
{
	return rows * (size_t)sl_facts_of(c)->bytes;
}

/* Rows of the first stream, which has the most. */
static uint32_t stream_rows(const struct sl_joined_file *j)
{
	return j->rows < STREAM_ROWS ? (uint32_t)j->rows : STREAM_ROWS;
}

/* Of a thread: the items of a column, what sl_deflate_join() needs, and the compressor. */
static size_t scratch_bytes(const struct sl_joined_file *j)
{
	const size_t most = stream_rows(j) * sizeof(uint64_t);
	struct sl_shape shape = {.in_bytes = most, .level = j->run->level, .most_room = true};

	return sl_size_add(sl_size_add(most, sl_deflate_join_scratch(most)),
		sl_size_add(sl_scratch(j->run->deflate, &shape), 3 * SL_ALIGN));
}

static void lay_out(struct sl_arena *a, struct sl_joined_file *j)
{
	struct npz_join *own = (struct npz_join *)sl_cut_items(a, 1, sizeof(*own));
	struct npz_stream *stream =
		(struct npz_stream *)sl_cut_items(a, j->n_workers, sizeof(*stream));
	const size_t most = stream_rows(j) * sizeof(uint64_t);

	if (own)
		*own = (struct npz_join){.stream = stream};
	for (uint32_t i = 0; i < j->n_workers; i++) {
		uint8_t *bytes =
			(uint8_t *)sl_cut(a, sl_deflate_most(most, 0, 1) + SL_DEFLATE_JOIN_BYTES);

		if (stream)
			stream[i].bytes = bytes;
	}
	sl_join_lay_out(a, j, scratch_bytes(j));
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

/* Rows of the block in its streams number i. */
static uint32_t rows_in(const struct sl_table *block, uint32_t i)
{
	return block->n - i * STREAM_ROWS < STREAM_ROWS ? block->n - i * STREAM_ROWS : STREAM_ROWS;
}

/* Makes stream t of the block: of all columns for the first rows, then for the next ones. */
static enum sl_status make_stream(void *joined, uint32_t worker, uint32_t t)
{
	const struct sl_joined_file *j = (const struct sl_joined_file *)joined;
	struct npz_stream *s = &((const struct npz_join *)j->own)->stream[worker];
	const uint32_t k = t % j->block->n_columns, i = t / j->block->n_columns;
	const struct sl_table_column *c = &j->block->column[k];
	const uint32_t n = rows_in(j->block, i);
	const size_t bytes = items_bytes(c, n);
	struct sl_exec rest = j->worker[worker];
	const void *items =
		sl_npz_items(c, i * STREAM_ROWS, n, (uint8_t *)sl_cut(&rest.scratch, bytes));
	struct sl_arena decoder = {.size = sl_deflate_join_scratch(bytes)};
	enum sl_status status;

	decoder.base = sl_cut(&rest.scratch, decoder.size);
	status = sl_format_deflate(&rest, j->run, SL_RAW, items, bytes, s->bytes, &s->used);
	if (status == SL_OK)
		status = sl_deflate_join(decoder, s->bytes, &s->used, bytes);
	s->crc = sl_crc32(items, bytes);
	return sl_add_context(status, "column %s", sl_table_name(j->block, k));
}

/* Puts the stream. */
static enum sl_status put_stream(void *joined, uint32_t worker, uint32_t t)
{
	struct sl_joined_file *j = (struct sl_joined_file *)joined;
	struct npz_join *own = (struct npz_join *)j->own;
	const struct npz_stream *s = &own->stream[worker];
	const uint32_t k = t % j->block->n_columns, n = rows_in(j->block, t / j->block->n_columns);
	struct sl_npz_piece *piece = &own->pieces.piece[k];

	piece->crc = sl_crc32_combine(piece->crc, s->crc, items_bytes(&j->block->column[k], n));
	piece->bytes += s->used;
	j->written.values += n;
	return j->put(j->context, k, s->bytes, s->used);
}

static enum sl_status add(struct sl_joined_file *j)
{
	struct npz_join *own = (struct npz_join *)j->own;
	const uint32_t columns = j->block->n_columns;

	SL_TRY(sl_tasks_in_order(j->pool, j->n_workers,
		columns * (uint32_t)sl_ceil_div(j->block->n, STREAM_ROWS), make_stream, put_stream,
		j));
	/* after the last row the stream of each column ends */
	for (uint32_t k = 0; k < columns && j->written.values == columns * j->rows; k++) {
		SL_TRY(j->put(j->context, k, sl_deflate_end, sizeof(sl_deflate_end)));
		own->pieces.piece[k].bytes += sizeof(sl_deflate_end);
	}
	return SL_OK;
}

/* Nothing needs the checksum of the file, so none is computed. */
static void packed(struct sl_joined_file *j, const uint8_t *const part[], struct sl_packed *p)
{
	struct npz_join *own = (struct npz_join *)j->own;

	for (uint32_t k = 0; k < own->pieces.n; k++)
		own->pieces.piece[k].at = part[k];
	*p = (struct sl_packed){.table = j->all, .pieces = &own->pieces, .has_crc = true};
}

const struct sl_format_join sl_npz_join = {
	.parts = parts, .lay_out = lay_out, .begin = begin, .add = add, .packed = packed};
