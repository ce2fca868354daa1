/*
 * csv.c - the format csv: a table as comma-separated text, without compression.
 *
 * The text is that of csv.gz. The file has no checksum; manifest.jsonl has one for the files of a run.
 */
#include "stages/formats/common/format.h"
#include "stages/formats/tables/csv_read.h"
#include "stages/formats/tables/csv_text.h"

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

/* --- a file of the whole run ------------------------------------------------------------------ */

static void lay_out_join(struct sl_arena *a, struct sl_joined_file *j)
{
	j->own = sl_cut(a, sl_csv_join_bytes(&j->all));
}

static enum sl_status begin_join(struct sl_joined_file *j)
{
	j->written.columns = 1;
	return j->put(j->context, 0, j->own, sl_csv_print_header(&j->all, (char *)j->own));
}

static enum sl_status add_join(struct sl_joined_file *j, const struct sl_table *block)
{
	for (uint32_t from = 0, n; from < block->n; from += n) {
		n = sl_csv_join_rows(block->n - from);
		SL_TRY(j->put(
			j->context, 0, j->own, sl_csv_print_rows(block, from, n, (char *)j->own)));
		j->written.values += n;
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
