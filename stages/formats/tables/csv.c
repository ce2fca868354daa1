/*
 * csv.c - the formats csv and csv.gz: a table as comma-separated text, plain or in one gzip member.
 * A csv.gz file of the whole run has several members, the first of which is the first line.
 *
 * A csv file has no checksum; manifest.jsonl has one for the files of a run.
 */
#include "stages/formats/common/format.h"
#include "stages/formats/tables/tables.h"

static void lay_out(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	size_t bytes = sl_csv_text_bytes(most);

	(void)run;
	*p = (struct sl_packed){.bytes = (uint8_t *)sl_cut(a, bytes), .size = bytes};
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	(void)run;
	SL_TRY(sl_format_check_memory("csv", sl_csv_text_bytes(t), p->size, x, 0));
	sl_packed_begin(p, t, 1);
	sl_packed_add(p, sl_csv_print(t, (char *)p->bytes), t->n);
	return SL_OK;
}

/* The packed bytes are the whole file. */
static enum sl_status assemble(const struct sl_file_facts *run, const struct sl_batch_facts *batch,
	const struct sl_packed *p, void *image, size_t size, struct sl_pieces *file)
{
	(void)run, (void)batch, (void)image, (void)size;
	*file = (struct sl_pieces){0};
	sl_pieces_add(file, p->bytes, p->used);
	return SL_OK;
}

/* --- gzip ------------------------------------------------------------------------------------- */

static size_t packed_bytes(const struct sl_table *t)
{
	return sl_deflate_most(sl_csv_text_bytes(t), 0, 1);
}

/* Memory for the compressed text only: the text itself is in scratch while it is compressed. */
static void lay_out_gz(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	size_t bytes = packed_bytes(most);

	(void)run;
	*p = (struct sl_packed){.bytes = (uint8_t *)sl_cut(a, bytes), .size = bytes};
}

static size_t scratch_gz(const struct sl_table *most, const struct sl_file_facts *run)
{
	size_t text = sl_round_up(sl_csv_text_bytes(most), SL_ALIGN);
	struct sl_shape shape = {.in_bytes = text, .level = run->level, .most_room = true};

	return sl_size_add(text, sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN));
}

/* Prints the table to scratch and compresses the text from there. */
static enum sl_status pack_gz(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct sl_exec rest = *x;
	char *text = (char *)sl_cut(&rest.scratch, sl_csv_text_bytes(t));
	size_t used;

	SL_TRY(sl_format_check_memory("csv.gz", packed_bytes(t), p->size, x, scratch_gz(t, run)));
	sl_packed_begin(p, t, 1);
	SL_TRY(sl_format_deflate(
		&rest, run, SL_GZIP, text, sl_csv_print(t, text), p->bytes, &used));
	sl_packed_add(p, used, t->n);
	return SL_OK;
}

/* --- a file of the whole run ------------------------------------------------------------------ */

/* Text of some rows, and its gzip member; NULL: the file is plain. */
struct text_join {
	char *text;
	uint8_t *member;
};

static void lay_out_join(struct sl_arena *a, struct sl_joined_file *j)
{
	size_t bytes = sl_csv_join_bytes(&j->all);
	struct sl_shape shape = {.in_bytes = bytes, .level = j->run->level, .most_room = true};
	struct text_join *own = (struct text_join *)sl_cut_items(a, 1, sizeof(*own));
	struct text_join made = {.text = (char *)sl_cut(a, bytes)};

	if (j->format == &sl_format_csv_gz) {
		made.member = (uint8_t *)sl_cut(a, sl_deflate_most(bytes, 0, 1));
		j->x.scratch.size = sl_scratch(j->run->deflate, &shape);
		j->x.scratch.base = sl_cut(a, j->x.scratch.size);
	}
	if (own)
		*own = made;
	j->own = own;
}

/* Puts so many bytes of text, which are so many rows. */
static enum sl_status put_text(struct sl_joined_file *j, size_t bytes, uint32_t rows)
{
	const struct text_join *own = (const struct text_join *)j->own;
	size_t used;

	j->written.values += rows;
	if (!own->member)
		return j->put(j->context, 0, own->text, bytes);
	SL_TRY(sl_format_deflate(&j->x, j->run, SL_GZIP, own->text, bytes, own->member, &used));
	return j->put(j->context, 0, own->member, used);
}

static enum sl_status begin_join(struct sl_joined_file *j)
{
	j->written.columns = 1;
	return put_text(
		j, sl_csv_print_header(&j->all, ((const struct text_join *)j->own)->text), 0);
}

static enum sl_status add_join(struct sl_joined_file *j, const struct sl_table *block)
{
	char *text = ((const struct text_join *)j->own)->text;

	for (uint32_t from = 0, n; from < block->n; from += n) {
		n = sl_csv_join_rows(block->n - from);
		SL_TRY(put_text(j, sl_csv_print_rows(block, from, n, text), n));
	}
	return SL_OK;
}

static enum sl_status end_join(struct sl_joined_file *j)
{
	(void)j;
	return SL_OK;
}

static const struct sl_format_join join = {
	.lay_out = lay_out_join, .begin = begin_join, .add = add_join, .end = end_join};

const struct sl_format sl_format_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "comma-separated text: csv.gz without compression",
	.lay_out = lay_out,
	.scratch = sl_format_no_bytes,
	.pack = pack,
	.no_streams = "is text, which the host's threads print",
	.image_bytes = sl_format_no_bytes,
	.assemble = assemble,
	.read = sl_csv_read,
	.join = &join,
};

const struct sl_format sl_format_csv_gz = {
	.name = "csv.gz",
	.suffix = ".csv.gz",
	.help = "comma-separated text in gzip: for spreadsheets, awk and other tools",
	.lay_out = lay_out_gz,
	.scratch = scratch_gz,
	.pack = pack_gz,
	.no_streams = "is text, which the host's threads print",
	.image_bytes = sl_format_no_bytes,
	.assemble = assemble,
	.read = sl_csv_gz_read,
	.join = &join,
};
