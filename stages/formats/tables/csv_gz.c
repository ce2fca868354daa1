/*
 * csv_gz.c - the format csv.gz: a table as comma-separated text in one gzip member.
 *
 * The first line has the names of the columns, then each survivor has a line. Floats have the fewest
 * digits that read back exactly (decimal.h), fates are numbers, and constant columns are repeated in
 * each line. The payload of a NaN is lost.
 */
#include <string.h>

#include "stages/formats/common/decimal.h"
#include "stages/formats/common/format.h"
#include "stages/formats/tables/csv_gz_read.h"

/* --- printing ------------------------------------------------------------------------------ */

/* Characters of the longest value, by enum sl_column_type. */
static const size_t widths[] = {
	[SL_TYPE_F32] = SL_F32_TEXT_BYTES,
	[SL_TYPE_U32] = 10,
	[SL_TYPE_U64] = SL_U64_TEXT_BYTES,
	[SL_TYPE_U8] = 3,
	[SL_TYPE_I32] = 11,
};

/* Upper limit of the text of a table. A comma or a newline follows each value. */
static size_t text_bytes(const struct sl_table *t)
{
	size_t header = 1, row = 1;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		header += strlen(sl_facts_of(&t->column[i])->name) + 1;
		row += widths[sl_facts_of(&t->column[i])->type] + 1;
	}
	/* The print functions need space for the longest number, also at the end of the text. */
	return sl_size_add(header + SL_U64_TEXT_BYTES, sl_size_mul(t->n, row));
}

/* DEFLATE lengthens text at most by its block headers, which is far less than 1/256. */
static size_t packed_bytes(const struct sl_table *t)
{
	size_t text = text_bytes(t);

	return sl_size_add(sl_size_add(text, text / 256), 256);
}

/* Prints the first line, the names of the columns. text has text_bytes() bytes. */
static size_t print_header(const struct sl_table *t, char *text)
{
	char *at = text;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		if (i)
			*at++ = ',';
		at = stpcpy(at, sl_facts_of(&t->column[i])->name);
	}
	*at++ = '\n';
	return (size_t)(at - text);
}

/* Prints a sign and the magnitude, which for -2^31 only fits in an unsigned number. */
static size_t print_i32(int32_t v, char *text)
{
	uint32_t magnitude = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;

	text[0] = '-';
	return (v < 0) + sl_print_u64(magnitude, text + (v < 0));
}

static size_t print_item(
	const struct sl_powers *powers, const struct sl_table_column *c, uint32_t row, char *text)
{
	uint32_t i = c->constant ? 0 : row;

	switch (sl_facts_of(c)->type) {
	case SL_TYPE_F32:
		return sl_print_f32(powers, ((const float *)c->data)[i], text);
	case SL_TYPE_U32:
		return sl_print_u64(((const uint32_t *)c->data)[i], text);
	case SL_TYPE_U64:
		return sl_print_u64(((const uint64_t *)c->data)[i], text);
	case SL_TYPE_U8:
		return sl_print_u64(((const uint8_t *)c->data)[i], text);
	case SL_TYPE_I32:
		return print_i32(((const int32_t *)c->data)[i], text);
	}
	return 0;
}

/* Prints all lines and returns their bytes. The powers of ten are computed once per table. */
static size_t print_table(const struct sl_table *t, char *text)
{
	struct sl_powers powers;
	char *at = text + print_header(t, text);

	sl_powers_make(&powers);
	for (uint32_t row = 0; row < t->n; row++) {
		for (uint32_t i = 0; i < t->n_columns; i++) {
			if (i)
				*at++ = ',';
			at += print_item(&powers, &t->column[i], row, at);
		}
		*at++ = '\n';
	}
	return (size_t)(at - text);
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
	size_t text = sl_round_up(text_bytes(most), SL_ALIGN);
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
	char *text = (char *)sl_cut(&rest.scratch, text_bytes(t));

	SL_TRY(sl_format_check_memory("csv.gz", packed_bytes(t), p->size, x, scratch(t, run)));
	p->table = *t;
	return deflate_text(&rest, run, text, print_table(t, text), p);
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
};
