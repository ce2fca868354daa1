/*
 * csv_gz.c - the format csv.gz: a table as comma-separated text in one gzip member. A file of the whole run
 * has several members, the first of which is the first line.
 */
#include "stages/formats/common/format.h"
#include "stages/formats/tables/csv_read.h"
#include "stages/formats/tables/csv_text.h"

/* DEFLATE lengthens text at most by its block headers, which is far less than 1/256. */
static size_t member_bytes(size_t text)
{
	return sl_size_add(sl_size_add(text, text / 256), 256);
}

static size_t packed_bytes(const struct sl_table *t)
{
	return member_bytes(sl_csv_text_bytes(t));
}

/* --- packing ------------------------------------------------------------------------------- */

/* Memory for the compressed text only: the text itself is in scratch while it is compressed. */
static void lay_out(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	size_t bytes = packed_bytes(most);

	(void)run;
	*p = (struct sl_packed){.bytes = (uint8_t *)sl_cut(a, bytes), .size = bytes};
}

static size_t scratch(const struct sl_table *most, const struct sl_file_facts *run)
{
	size_t text = sl_round_up(sl_csv_text_bytes(most), SL_ALIGN);
	struct sl_shape shape = {.in_bytes = text, .level = run->level};

	return sl_size_add(text, sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN));
}

/* Compresses the text to one gzip member. The output has space for any text (packed_bytes()). */
static enum sl_status deflate_text(struct sl_exec *x, const struct sl_file_facts *run,
	const char *text, size_t bytes, struct sl_packed *p)
{
	struct sl_deflate_job job = {
		.in = text,
		.in_bytes = bytes,
		.out = p->bytes,
		.out_size = p->size,
		.out_bytes = &p->used,
		.level = run->level,
		.wrapper = SL_GZIP,
	};

	SL_TRY(sl_deflate(run->deflate, x, &job));
	if (p->used == 0)
		return sl_fail(SL_INTERNAL,
			"internal error: %zu bytes of text do not fit in %zu after compression by "
			"%s; please report it",
			bytes, p->size, run->deflate->name);
	return SL_OK;
}

/* Prints the table to scratch and compresses the text from there. */
static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct sl_exec rest = *x;
	char *text = (char *)sl_cut(&rest.scratch, sl_csv_text_bytes(t));

	SL_TRY(sl_format_check_memory("csv.gz", packed_bytes(t), p->size, x, scratch(t, run)));
	p->table = *t;
	return deflate_text(&rest, run, text, sl_csv_print(t, text), p);
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

/* --- a file of the whole run ------------------------------------------------------------------ */

/* Text of some rows, and its gzip member. */
struct text_join {
	char *text;
	struct sl_packed packed;
};

static void lay_out_join(struct sl_arena *a, struct sl_joined_file *j)
{
	size_t bytes = sl_csv_join_bytes(&j->all);
	struct sl_shape shape = {.in_bytes = bytes, .level = j->run->level};
	struct text_join *own = (struct text_join *)sl_cut_items(a, 1, sizeof(*own));
	struct text_join made = {.text = (char *)sl_cut(a, bytes)};

	made.packed.size = member_bytes(bytes);
	made.packed.bytes = (uint8_t *)sl_cut(a, made.packed.size);
	j->x.scratch.size = sl_scratch(j->run->deflate, &shape);
	j->x.scratch.base = sl_cut(a, j->x.scratch.size);
	if (own)
		*own = made;
	j->own = own;
}

/* Puts a member of so many bytes of text. */
static enum sl_status put_member(struct sl_joined_file *j, size_t bytes)
{
	struct text_join *own = (struct text_join *)j->own;

	SL_TRY(deflate_text(&j->x, j->run, own->text, bytes, &own->packed));
	return j->put(j->context, 0, own->packed.bytes, own->packed.used);
}

static enum sl_status begin_join(struct sl_joined_file *j)
{
	return put_member(
		j, sl_csv_print_header(&j->all, ((const struct text_join *)j->own)->text));
}

static enum sl_status add_join(struct sl_joined_file *j, const struct sl_table *block)
{
	char *text = ((const struct text_join *)j->own)->text;

	for (uint32_t from = 0, n; from < block->n; from += n) {
		n = sl_csv_join_rows(block->n - from);
		SL_TRY(put_member(j, sl_csv_print_rows(block, from, n, text)));
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

const struct sl_format sl_format_csv_gz = {
	.name = "csv.gz",
	.suffix = ".csv.gz",
	.help = "comma-separated text in gzip: for spreadsheets, awk and other tools",
	.lay_out = lay_out,
	.scratch = scratch,
	.pack = pack,
	.no_streams = "is text, which the host's threads print",
	.image_bytes = sl_format_no_bytes,
	.assemble = assemble,
	.read = sl_csv_gz_read,
	.join = &join,
};
