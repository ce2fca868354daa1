/*
 * csv_gz.c - a table as comma-separated text in one gzip member.
 *
 * A line of column names, then a line for each survivor. Floats have the fewest digits that read
 * back to them (decimal.h), fates are their numbers, constant columns are written in full. A NaN
 * reads back as a NaN, of whatever payload it was.
 */
#include <string.h>

#include "stages/formats/common/decimal.h"
#include "stages/formats/common/format.h"
#include "stages/formats/tables/csv_gz_read.h"

/* --- printing ------------------------------------------------------------------------------ */

static const struct sl_column_facts *facts(const struct sl_table_column *c)
{
	return &sl_column_facts[c->column];
}

/* The longest value of a type, by enum sl_column_type; a u32 has 10 digits, a u8 3, an i32 a sign.
 */
static const size_t widths[] = {
	[SL_TYPE_F32] = SL_F32_TEXT_BYTES,
	[SL_TYPE_U32] = 10,
	[SL_TYPE_U64] = SL_U64_TEXT_BYTES,
	[SL_TYPE_U8] = 3,
	[SL_TYPE_I32] = 11,
};

/* The most bytes that the text of a table has; a comma or newline follows each value. */
static size_t text_bytes(const struct sl_table *t)
{
	size_t header = 1, row = 1;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		header += strlen(facts(&t->column[i])->name) + 1;
		row += widths[facts(&t->column[i])->type] + 1;
	}
	/* Numbers are printed into room for the longest of all, so the last one needs that. */
	return sl_size_add(header + SL_U64_TEXT_BYTES, sl_size_mul(t->n, row));
}

/* Deflate never grows text by more than the headers of its blocks: far below 1 in 256. */
static size_t packed_bytes(const struct sl_table *t)
{
	size_t text = text_bytes(t);

	return sl_size_add(sl_size_add(text, text / 256), 256);
}

static size_t print_header(const struct sl_table *t, char *text)
{
	char *at = text;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		const char *name = facts(&t->column[i])->name;
		size_t n = strlen(name);

		if (i)
			*at++ = ',';
		memcpy(at, name, n);
		at += n;
	}
	*at++ = '\n';
	return (size_t)(at - text);
}

/* Its magnitude, behind a sign: 2^31 has one, too. */
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

	switch (facts(c)->type) {
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
			"%zu bytes of text do not fit in %zu when compressed by %s: text never "
			"grows so much; please report it",
			bytes, p->size, run->deflate->name);
	return SL_OK;
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct sl_exec rest = *x;
	char *text = (char *)sl_cut(&rest.scratch, text_bytes(t));

	if (packed_bytes(t) > p->size)
		return sl_fail(SL_USAGE,
			"%zu bytes may be packed, there is room for %zu: more rows or columns than "
			"the packing was laid out for; lay it out for more",
			packed_bytes(t), p->size);
	if (!text)
		return sl_fail(SL_USAGE,
			"scratch of csv.gz has %zu bytes, %zu are needed: give it at least "
			"scratch() bytes",
			x->scratch.size, scratch(t, run));
	p->table = *t;
	return deflate_text(&rest, run, text, print_table(t, text), p);
}

/* The packed bytes are the file. */
static size_t image_bytes(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)most, (void)run;
	return 0;
}

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
	.help = "comma-separated text in gzip: for spreadsheets, awk and all else",
	.lay_out = lay_out,
	.scratch = scratch,
	.pack = pack,
	.no_streams = "is text, which the host's threads print",
	.image_bytes = image_bytes,
	.assemble = assemble,
	.read = sl_csv_gz_read,
};
