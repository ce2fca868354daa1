/* observations.c - see observations.h. */
#include "stages/inputs/observations.h"

#include <math.h>
#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/tables/tables.h"
#include "stages/inputs/volume.h"

enum { FIELDS_MAX = 64, BYTES_MAX = 1 << 26 };

/*
 * The fields of the next line that has some; their number is 0 at the end of the text. Between blanks
 * is an empty field only if it has quotes, as pandas writes a missing number of a single column.
 */
static enum sl_status next_fields(
	struct sl_csv *l, struct sl_csv_text field[FIELDS_MAX], uint32_t *n)
{
	struct sl_csv_text line;
	const char *start;

	for (*n = 0; *n == 0;) {
		SL_TRY(sl_csv_next_line(l, &line));
		if (!line.at)
			return SL_OK;
		if (*line.at == '#')
			continue;
		start = line.at;
		while (*n < FIELDS_MAX && sl_csv_next_field(l, &line, &field[*n]))
			*n += l->separator != ' ' || field[*n].length > 0 ||
			      (field[*n].at > start && field[*n].at[-1] == '"');
	}
	return SL_OK;
}

/* Sets the places of the columns among the fields of the first line, which may have names. */
static enum sl_status find_columns(const struct sl_csv_text *field, uint32_t n_fields,
	const struct sl_texts *columns, uint32_t most, uint32_t *place, uint32_t *n)
{
	*n = columns->n > 0 ? columns->n : n_fields;
	if (*n > most)
		return sl_fail(SL_USAGE,
			"has %u columns, and at most %u are observed; name them in columns", *n,
			most);
	for (uint32_t k = 0; k < *n; k++) {
		place[k] = columns->n > 0 ? 0 : k;
		while (columns->n > 0 && place[k] < n_fields &&
			!sl_is_text(field[place[k]].at, field[place[k]].length, columns->at[k]))
			place[k]++;
		if (place[k] == n_fields)
			return sl_fail(SL_USAGE,
				"has no column %s in its first line; correct columns, or the file",
				columns->at[k]);
	}
	return SL_OK;
}

/*
 * Reads the n numbers of an observation. They are NaN in one that is missing, with the same bits
 * everywhere, because there is a checksum of them.
 */
static enum sl_status read_row(const struct sl_csv *l, const struct sl_csv_text *field,
	const uint32_t *place, uint32_t n, double *to)
{
	uint32_t missing = 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct sl_csv_text *f = &field[place[k]];
		const bool empty = f->length == 0 || sl_is_text(f->at, f->length, "NA");

		if (!empty && (!sl_csv_number(l, f, &to[k]) || fabs(to[k]) > 1e30))
			return sl_fail(SL_BAD_INPUT,
				"line %u, field %u: \"%.*s\" is no number from -1e30 to 1e30; "
				"correct the file, or select other columns with columns",
				l->line, place[k] + 1, (int)(f->length < 40 ? f->length : 40),
				f->at);
		if (empty || isnan(to[k])) {
			to[k] = (double)NAN;
			missing++;
		}
	}
	return missing == 0 || missing == n
	               ? SL_OK
	               : sl_fail(SL_BAD_INPUT,
				 "line %u: %u of %u numbers of the observation are missing, and a "
				 "filter needs all of them or none; remove the others of this line, "
				 "or name fewer columns",
				 l->line, missing, n);
}

/* Fields are divided by semicolons, or else by commas, or else by tabs, or else by blanks. */
static enum sl_status read_rows(const char *text, size_t bytes, const struct sl_texts *columns,
	uint32_t most, struct sl_volume *v)
{
	SL_CLOSED_BY(sl_csv_close)
	struct sl_csv l = {.file = text,
		.bytes = bytes,
		.gzipped = sl_is_gzip(text, bytes),
		.any = true,
		.separators = ";,\t ",
		.around = "  \t\r\""};
	struct sl_csv_text field[FIELDS_MAX];
	uint32_t place[FIELDS_MAX], n, all;
	double first, *to;
	bool seen = false;

	SL_TRY(sl_csv_begin(&l));
	SL_TRY(sl_host_get((size_t)SL_OBSERVATIONS_MAX * most, sizeof(first), &v->pixels));
	SL_TRY(next_fields(&l, field, &n));
	all = n;
	SL_TRY(find_columns(field, n, columns, most, place, &v->size[0]));
	/* Names can be numbers if columns has them. NA is the first observation, which is missing. */
	if (columns->n > 0 || (n > 0 && !sl_csv_number(&l, &field[0], &first) &&
				      !sl_is_text(field[0].at, field[0].length, "NA")))
		SL_TRY(next_fields(&l, field, &n));
	for (; n > 0; v->size[1]++) {
		if (v->size[1] == SL_OBSERVATIONS_MAX)
			return sl_fail(SL_BAD_INPUT,
				"line %u has observation %d, and a filter has at most %d; shorten the file",
				l.line, SL_OBSERVATIONS_MAX + 1, SL_OBSERVATIONS_MAX);
		if (n != all)
			return sl_fail(SL_BAD_INPUT,
				"line %u has %u fields, and the first line has %u; correct the "
				"file (between commas, numbers have a decimal point)",
				l.line, n, all);
		to = &v->pixels[(size_t)v->size[1] * v->size[0]];
		SL_TRY(read_row(&l, field, place, v->size[0], to));
		seen |= !isnan(*to);
		SL_TRY(next_fields(&l, field, &n));
	}
	return seen ? SL_OK : sl_fail(SL_BAD_INPUT, "has no observations; write one in each line");
}

enum sl_status sl_observations_read(
	const char *path, const struct sl_texts *columns, uint32_t n, struct sl_volume *v)
{
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	enum sl_status s;
	size_t bytes;

	*v = (struct sl_volume){.size = {0, 0, 1}};
	SL_TRY(sl_path_read(path, BYTES_MAX, &text, &bytes));
	s = read_rows(text, bytes, columns, n, v);
	if (s != SL_OK)
		sl_volume_free(v);
	return sl_add_context(s, "%s", path);
}
