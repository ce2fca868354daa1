/*
 * csv.c - the formats csv and csv.gz: a table as comma-separated text, plain or in one gzip member.
 * A csv.gz file of the whole run has several members, the first of which is the first line.
 *
 * The first line has the names of the columns, then each survivor has a line. Floats have the
 * fewest digits that read back exactly (sl_print_f32()), fates are numbers, and constant columns
 * are repeated in each line. The payload of a NaN is lost.
 *
 * A csv file has no checksum; manifest.jsonl has one for the files of a run.
 */
#include <string.h>

#include "primitives/base/jobs.h"
#include "stages/formats/common/format.h"
#include "stages/formats/tables/tables.h"

/* --- text ------------------------------------------------------------------------------------ */

/* Characters of the longest value, by enum sl_column_type. */
static const size_t widths[] = {[SL_TYPE_F32] = SL_F32_TEXT_BYTES,
	[SL_TYPE_U32] = 10,
	[SL_TYPE_U64] = SL_U64_TEXT_BYTES,
	[SL_TYPE_U8] = 3,
	[SL_TYPE_I32] = 11};

/* Upper limit of the bytes of the text of a table; a comma or a newline follows each value. */
static size_t text_bytes(const struct sl_table *t)
{
	size_t header = 1, row = 1;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		header += strlen(sl_table_name(t, i)) + 1;
		row += widths[sl_facts_of(&t->column[i])->type] + 1;
	}
	/* The print functions need space for the longest number, also at the end of the text. */
	return sl_size_add(header + SL_U64_TEXT_BYTES, sl_size_mul(t->n, row));
}

static size_t print_first_line(const struct sl_table *t, char *text)
{
	char *at = text;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		if (i)
			*at++ = ',';
		at = stpcpy(at, sl_table_name(t, i));
	}
	*at++ = '\n';
	return (size_t)(at - text);
}

static size_t print_item(
	const struct sl_powers *powers, const struct sl_table_column *c, uint32_t row, char *text)
{
	const struct sl_column_facts *f = sl_facts_of(c);
	const char *item = (const char *)c->data + (c->constant ? 0 : (size_t)row * f->bytes);
	uint64_t v = 0;
	bool negative;

	if (f->type == SL_TYPE_F32)
		return sl_print_f32(powers, *(const float *)(const void *)item, text);
	memcpy(&v, item, f->bytes);
	negative = f->type == SL_TYPE_I32 && v > INT32_MAX;
	text[0] = '-';
	return negative + sl_print_u64(negative ? (uint32_t)-v : v, text + negative);
}

/* Prints n rows from row from on. The powers of ten are computed once per call. */
static size_t print_rows(const struct sl_table *t, uint32_t from, uint32_t n, char *text)
{
	struct sl_powers powers;
	char *at = text;

	sl_powers_make(&powers);
	for (uint32_t row = from; row < from + n; row++) {
		for (uint32_t i = 0; i < t->n_columns; i++) {
			if (i)
				*at++ = ',';
			at += print_item(&powers, &t->column[i], row, at);
		}
		*at++ = '\n';
	}
	return (size_t)(at - text);
}

static size_t print_table(const struct sl_table *t, char *text)
{
	size_t header = print_first_line(t, text);

	return header + print_rows(t, 0, t->n, text + header);
}

/* --- plain ----------------------------------------------------------------------------------- */

static struct sl_format_sizes sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)run;
	return (struct sl_format_sizes){.packed = text_bytes(most)};
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	(void)x, (void)run, (void)device_packed;
	sl_packed_begin(p, t, 1);
	sl_packed_add(p, print_table(t, (char *)p->bytes), t->n);
	return SL_OK;
}

/* The packed bytes are the whole file. */
static enum sl_status assemble(const struct sl_file_facts *run, const struct sl_batch_facts *batch,
	const struct sl_packed *p, void *image, size_t size, struct sl_pieces *file)
{
	(void)run, (void)batch, (void)image, (void)size;
	sl_pieces_add(file, p->bytes, p->used);
	return SL_OK;
}

/* --- gzip ------------------------------------------------------------------------------------- */

/* Memory for the compressed text only: the text itself is in scratch while it is compressed. */
static struct sl_format_sizes sizes_gz(const struct sl_table *most, const struct sl_file_facts *run)
{
	const size_t bytes = text_bytes(most), text = sl_round_up(bytes, SL_ALIGN);
	struct sl_shape shape = {.in_bytes = text, .level = run->level, .most_room = true};

	return (struct sl_format_sizes){.packed = sl_deflate_most(bytes, 0, 1),
		.scratch =
			sl_size_add(text, sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN))};
}

/* Prints the table to scratch and compresses the text from there. */
static enum sl_status pack_gz(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	struct sl_exec rest = *x;
	char *text = (char *)sl_cut(&rest.scratch, text_bytes(t));
	size_t used;

	(void)device_packed;
	sl_packed_begin(p, t, 1);
	SL_TRY(sl_format_deflate(&rest, run, SL_GZIP, text, print_table(t, text), p->bytes, &used));
	sl_packed_add(p, used, t->n);
	return SL_OK;
}

/* --- a file of the whole run ------------------------------------------------------------------ */

/* Rows of a piece, but for the last one. */
enum { PIECE_ROWS = 1 << 14 };

static uint32_t piece_rows(uint32_t left)
{
	return left < PIECE_ROWS ? left : PIECE_ROWS;
}

/* What a worker makes: text of some rows, and its gzip member; NULL: the file is plain. */
struct piece {
	char *text;
	uint8_t *member;
	size_t bytes; /* of the text, or of the member */
};

static void lay_out_join(struct sl_arena *a, struct sl_joined_file *j)
{
	const bool gzip = j->format == &sl_format_csv_gz;
	struct piece *piece = (struct piece *)sl_cut_items(a, j->n_workers, sizeof(*piece));
	struct sl_shape shape = {.level = j->run->level, .most_room = true};
	struct sl_table longest = j->all;

	longest.n = piece_rows(j->all.n);
	shape.in_bytes = text_bytes(&longest);
	for (uint32_t i = 0; i < j->n_workers; i++) {
		char *text = (char *)sl_cut(a, shape.in_bytes);
		uint8_t *member =
			gzip ? (uint8_t *)sl_cut(a, sl_deflate_most(shape.in_bytes, 0, 1)) : NULL;

		if (piece)
			piece[i] = (struct piece){.text = text, .member = member};
	}
	sl_join_lay_out(a, j, gzip ? sl_scratch(j->run->deflate, &shape) : 0);
	j->own = piece;
}

/* Task: makes a piece; before the first block, the first line. */
static enum sl_status make_piece(void *joined, uint32_t worker, uint32_t t)
{
	const struct sl_joined_file *j = (const struct sl_joined_file *)joined;
	struct piece *p = (struct piece *)j->own + worker;
	const uint32_t from = t * PIECE_ROWS;

	p->bytes = j->block->n == 0
	                   ? print_first_line(&j->all, p->text)
	                   : print_rows(j->block, from, piece_rows(j->block->n - from), p->text);
	return p->member ? sl_format_deflate(&j->worker[worker], j->run, SL_GZIP, p->text, p->bytes,
				   p->member, &p->bytes)
	                 : SL_OK;
}

static enum sl_status put_piece(void *joined, uint32_t worker, uint32_t t)
{
	struct sl_joined_file *j = (struct sl_joined_file *)joined;
	const struct piece *p = (const struct piece *)j->own + worker;

	if (j->block->n > 0)
		j->written.values += piece_rows(j->block->n - t * PIECE_ROWS);
	return j->put(j->context, 0, p->member ? p->member : (const uint8_t *)p->text, p->bytes);
}

static enum sl_status begin_join(struct sl_joined_file *j)
{
	j->written.columns = 1;
	return sl_tasks_in_order(j->pool, j->n_workers, 1, make_piece, put_piece, j);
}

static enum sl_status add_join(struct sl_joined_file *j)
{
	return sl_tasks_in_order(j->pool, j->n_workers,
		(uint32_t)sl_ceil_div(j->block->n, PIECE_ROWS), make_piece, put_piece, j);
}

static const struct sl_format_join join = {
	.lay_out = lay_out_join, .begin = begin_join, .add = add_join};

const struct sl_format sl_format_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "comma-separated text: csv.gz without compression",
	.sizes = sizes,
	.pack = pack,
	.no_streams = "is text, which the host's threads print",
	.assemble = assemble,
	.read = sl_csv_read,
	.join = &join,
};

const struct sl_format sl_format_csv_gz = {
	.name = "csv.gz",
	.suffix = ".csv.gz",
	.help = "comma-separated text in gzip: for spreadsheets, awk and other tools",
	.sizes = sizes_gz,
	.pack = pack_gz,
	.no_streams = "is text, which the host's threads print",
	.assemble = assemble,
	.read = sl_csv_gz_read,
	.join = &join,
};
