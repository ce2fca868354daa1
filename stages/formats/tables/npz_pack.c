/*
 * npz_pack.c - see tables.h.
 *
 * Constant columns are expanded to all rows, which DEFLATE shortens by a factor of about 1000. A
 * column that DEFLATE does not shorten is stored.
 */
#include "stages/formats/tables/tables.h"

#include <string.h>

/* Bytes of the items of a column in all rows; a constant column is expanded to all of them. */
static size_t items_bytes(const struct sl_table_column *c, uint32_t n)
{
	return sl_size_mul(n, sl_facts_of(c)->bytes);
}

/* Bytes of all items without compression; *largest: of the largest column. */
static size_t all_bytes(const struct sl_table *t, size_t *largest)
{
	size_t sum = 0;

	*largest = 0;
	for (uint32_t i = 0; i < t->n_columns; i++) {
		size_t bytes = items_bytes(&t->column[i], t->n);

		sum = sl_size_add(sum, bytes);
		*largest = bytes > *largest ? bytes : *largest;
	}
	return sum;
}

/*
 * The items of one column (expanded or decompressed), and the compressor and its output, unless the
 * device provides the streams.
 */
struct sl_format_sizes sl_npz_sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	struct sl_format_sizes s = {.pieces = sizeof(struct sl_npz_pieces)};
	struct sl_shape shape = {.level = run->level};
	const size_t bytes = all_bytes(most, &shape.in_bytes);

	s.scratch = sl_round_up(shape.in_bytes, SL_ALIGN);
	if (run->form == SL_AS_STREAMS)
		return s;
	s.packed = bytes;
	s.scratch = sl_size_add(s.scratch, sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN));
	return s;
}

/* State of a batch that is packed. */
struct npz_packing {
	struct sl_exec x; /* with the scratch of the compressor */
	const struct sl_file_facts *run;
	struct sl_packed *p;
	uint8_t *items; /* scratch for the items of a column */
	struct sl_npz_piece *next;
};

const void *sl_npz_items(const struct sl_table_column *c, uint32_t from, uint32_t n, uint8_t *room)
{
	size_t item = sl_facts_of(c)->bytes;

	for (size_t i = 0; c->constant && i < n; i++)
		memcpy(room + i * item, c->data, item);
	return c->constant || n == 0 ? room : (const uint8_t *)c->data + from * item;
}

/* The largest stream with which the array is shorter than stored. */
static size_t gain_bytes(size_t items)
{
	return items > SL_NPZ_BLOCK_BYTES ? items - SL_NPZ_BLOCK_BYTES - 1 : 0;
}

/*
 * Compresses the items of a column after those of the columns before. out_size is the largest
 * stream that saves space: if the compressor does not fit in it, it returns 0 bytes and the items
 * are stored.
 */
static enum sl_status pack_items(
	struct npz_packing *w, const struct sl_table_column *c, const void *items, size_t bytes)
{
	struct sl_packed *p = w->p;
	size_t got = 0;
	const struct sl_deflate_job job = {.in = items,
		.in_bytes = bytes,
		.out = p->bytes + p->used,
		.out_size = gain_bytes(bytes),
		.out_bytes = &got,
		.level = w->run->level,
		.wrapper = SL_RAW};

	if (job.out_size > 0)
		SL_TRY(sl_deflate(w->run->deflate, &w->x, &job));
	if (got == 0)
		memcpy(p->bytes + p->used, items, bytes);
	*w->next++ = (struct sl_npz_piece){.column = c->column,
		.method = got ? SL_ZIP_DEFLATED : SL_ZIP_STORED,
		.crc = sl_crc32(items, bytes),
		.at = p->bytes + p->used,
		.bytes = got ? got : bytes};
	sl_packed_add(p, got ? got : bytes, p->table.n);
	return SL_OK;
}

/* --- packed on a device ----------------------------------------------------------------------- */

/* Bytes of a gzip member before and after its stream, which the CRC-32 follows. (RFC 1952) */
enum { GZIP_BEGIN = 10, GZIP_END = 8 };

/* Takes the gzip member of a column. If the stream is too long, the items replace it in place. */
static enum sl_status take_member(struct npz_packing *w, const struct sl_table_column *c,
	size_t bytes, uint8_t *member, size_t got)
{
	const uint8_t *end = member + got - GZIP_END;
	struct sl_npz_piece piece = {.column = c->column,
		.method = SL_ZIP_DEFLATED,
		.crc = (uint32_t)sl_get_number(end, 4),
		.at = member + GZIP_BEGIN,
		.bytes = got - GZIP_BEGIN - GZIP_END};

	if (piece.bytes > gain_bytes(bytes)) {
		SL_TRY(sl_inflate_whole(SL_GZIP, member, got, w->items, bytes));
		memcpy(member, w->items, bytes);
		piece.method = SL_ZIP_STORED;
		piece.at = member;
		piece.bytes = bytes;
	}
	*w->next++ = piece;
	w->p->written.values += w->p->table.n;
	return SL_OK;
}

/* --- all columns ------------------------------------------------------------------------------ */

enum sl_status sl_npz_pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	/* a device makes no stream of an empty column, so the host packs it */
	const size_t *stream = device_packed && t->n > 0 ? device_packed->stream : NULL;
	uint8_t *member = stream ? device_packed->bytes : NULL;
	struct sl_npz_pieces *pieces = (struct sl_npz_pieces *)p->pieces;
	struct npz_packing w = {.x = *x, .run = run, .p = p, .next = pieces->piece};
	size_t largest;

	(void)all_bytes(t, &largest);
	w.items = (uint8_t *)sl_cut(&w.x.scratch, largest);
	sl_packed_begin(p, t, t->n_columns);
	pieces->n = t->n_columns;
	for (uint32_t i = 0; i < t->n_columns; i++) {
		const struct sl_table_column *c = &t->column[i];
		const size_t bytes = items_bytes(c, t->n);
		enum sl_status s =
			stream ? take_member(&w, c, bytes, member, *stream)
			       : pack_items(&w, c, sl_npz_items(c, 0, t->n, w.items), bytes);

		SL_TRY(sl_add_context(s, "column %s", sl_table_name(t, i)));
		member += stream ? *stream++ : 0;
	}
	return SL_OK;
}
