/*
 * csv.c - the formats csv and csv.gz: a table as comma-separated text, plain or in one gzip member.
 * A csv.gz file of the whole run has several members, the first of which is the first line.
 *
 * A csv file has no checksum; manifest.jsonl has one for the files of a run.
 */
#include "primitives/base/jobs.h"
#include "stages/formats/common/format.h"
#include "stages/formats/tables/tables.h"

static struct sl_format_sizes sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)run;
	return (struct sl_format_sizes){.packed = sl_csv_text_bytes(most)};
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	(void)x, (void)run, (void)device_packed;
	sl_packed_begin(p, t, 1);
	sl_packed_add(p, sl_csv_print(t, (char *)p->bytes), t->n);
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
	const size_t bytes = sl_csv_text_bytes(most), text = sl_round_up(bytes, SL_ALIGN);
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
	char *text = (char *)sl_cut(&rest.scratch, sl_csv_text_bytes(t));
	size_t used;

	(void)device_packed;
	sl_packed_begin(p, t, 1);
	SL_TRY(sl_format_deflate(
		&rest, run, SL_GZIP, text, sl_csv_print(t, text), p->bytes, &used));
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
	shape.in_bytes = sl_csv_text_bytes(&longest);
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

	p->bytes = j->block->n == 0 ? sl_csv_print_header(&j->all, p->text)
	                            : sl_csv_print_rows(j->block, from,
					      piece_rows(j->block->n - from), p->text);
	return p->member ? sl_format_deflate(&j->worker[worker], j->run, SL_GZIP, p->text, p->bytes, p->member, &p->bytes)
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
