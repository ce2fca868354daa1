/*
 * csv_text.c - prints a table as comma-separated text.
 *
 * The first line has the names of the columns, then each survivor has a line. Floats have the
 * fewest digits that read back exactly (sl_print_f32()), fates are numbers, and constant columns
 * are repeated in each line. The payload of a NaN is lost.
 */
#include "stages/formats/tables/tables.h"

#include <string.h>

/* Characters of the longest value, by enum sl_column_type. */
static const size_t widths[] = {[SL_TYPE_F32] = SL_F32_TEXT_BYTES,
	[SL_TYPE_U32] = 10,
	[SL_TYPE_U64] = SL_U64_TEXT_BYTES,
	[SL_TYPE_U8] = 3,
	[SL_TYPE_I32] = 11};

/* A comma or a newline follows each value. */
size_t sl_csv_text_bytes(const struct sl_table *t)
{
	size_t header = 1, row = 1;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		header += strlen(sl_table_name(t, i)) + 1;
		row += widths[sl_facts_of(&t->column[i])->type] + 1;
	}
	/* The print functions need space for the longest number, also at the end of the text. */
	return sl_size_add(header + SL_U64_TEXT_BYTES, sl_size_mul(t->n, row));
}

size_t sl_csv_print_header(const struct sl_table *t, char *text)
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

/* The powers of ten are computed once per call. */
size_t sl_csv_print_rows(const struct sl_table *t, uint32_t from, uint32_t n, char *text)
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

size_t sl_csv_print(const struct sl_table *t, char *text)
{
	size_t header = sl_csv_print_header(t, text);

	return header + sl_csv_print_rows(t, 0, t->n, text + header);
}
