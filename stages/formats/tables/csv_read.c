/*
 * csv_read.c - see tables.h.
 *
 * The text must be exactly the text that the format writes for the same table, or, of any program,
 * a line of names and lines of numbers. It is read once to count the rows and once to read them;
 * what is in gzip is decompressed through a small window, and never stored as a whole.
 */
#include "stages/formats/tables/tables.h"

#include <stdlib.h>
#include <string.h>

/* Fails with what is wrong with the file. */
static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not a csv or csv.gz file of this program; inspect "
		"it with zcat -f, or make it again",
		problem);
}

/* --- lines and fields ---------------------------------------------------------------------- */

/* Size of the window, and limits of a line and of a number: far more than those of any table. */
enum { WINDOW_BYTES = 1 << 16, NUMBER_MOST = 127 };

enum sl_status sl_csv_begin(struct sl_csv *l)
{
	l->at = (const char *)l->file;
	l->left = l->bytes;
	l->line = 0;
	if (!l->gzipped)
		return SL_OK;
	if (!l->window) {
		SL_TRY(sl_memory_get(SL_HOST, WINDOW_BYTES, &l->window));
		SL_TRY(sl_inflate_begin(&l->z, SL_GZIP, l->file, l->bytes));
		l->z.members = true; /* a file of a whole run has several */
	}
	sl_inflate_again(&l->z, l->file, l->bytes);
	l->left = 0;
	return SL_OK;
}

void sl_csv_close(struct sl_csv *l)
{
	sl_inflate_end(&l->z);
	sl_memory_give(SL_HOST, l->window);
}

/* Moves the unread text to the begin of the window and fills the rest; *more: text was added. */
static enum sl_status refill(struct sl_csv *l, bool *more)
{
	size_t got;

	if (l->left > 0)
		memmove(l->window, l->at, l->left);
	l->at = (const char *)l->window;
	SL_TRY(sl_inflate_next(&l->z, (char *)l->window + l->left, WINDOW_BYTES - l->left, &got));
	l->left += got;
	*more = got > 0;
	return SL_OK;
}

enum sl_status sl_csv_next_line(struct sl_csv *l, struct sl_csv_text *line)
{
	const char *newline;
	size_t most, n;

	*line = (struct sl_csv_text){.at = NULL};
	for (bool more = l->gzipped;;) {
		most = l->left < WINDOW_BYTES ? l->left : WINDOW_BYTES;
		newline = most > 0 ? (const char *)memchr(l->at, '\n', most) : NULL;
		if (!newline && most == WINDOW_BYTES)
			return damaged("a line is longer than a line of any table");
		if (!newline && more) {
			SL_TRY(refill(l, &more));
			continue;
		}
		if (!newline && (l->left == 0 || !l->any))
			return l->left == 0 ? SL_OK
			                    : damaged("its last line has no end (no newline)");
		*line = (struct sl_csv_text){l->at, newline ? (size_t)(newline - l->at) : l->left};
		n = line->length + (newline != NULL);
		l->at += n;
		l->left -= n;
		if (l->any && l->line == 0 && n >= 3 && memcmp(line->at, "\xef\xbb\xbf", 3) == 0) {
			line->at += 3; /* marks UTF-8 */
			line->length -= 3;
		}
		l->line++;
		for (n = line->length; l->any && n > 0 && strchr(" \t\r", line->at[n - 1]);)
			n--;
		if (n > 0 || !l->any)
			return SL_OK;
		line->at = NULL;
	}
}

/* Most of the time of reading is spent here and in parse_item(), so both are inlined. */
inline bool sl_csv_next_field(struct sl_csv *l, struct sl_csv_text *line, struct sl_csv_text *field)
{
	const char *comma;

	if (!line->at)
		return false;
	for (const char *c = l->separators; !l->separator; c++)
		if (!c[1] || memchr(line->at, *c, line->length))
			l->separator = *c;
	comma = (const char *)memchr(line->at, l->separator, line->length);
	*field = *line;
	*line = (struct sl_csv_text){.at = NULL};
	if (comma) {
		line->at = comma + 1;
		line->length = field->length - (size_t)(line->at - field->at);
		field->length = (size_t)(comma - field->at);
	}
	if (!l->any)
		return true;
	for (; field->length > 0 && strchr(l->around, *field->at); field->at++)
		field->length--;
	while (field->length > 0 && strchr(l->around + 1, field->at[field->length - 1]))
		field->length--;
	return true;
}

bool sl_csv_number(const struct sl_csv *l, const struct sl_csv_text *field, double *value)
{
	char text[NUMBER_MOST + 1], *end, *comma;

	if (field->length == 0 || field->length > NUMBER_MOST)
		return false;
	memcpy(text, field->at, field->length);
	text[field->length] = '\0';
	if (l->separator == ';' && (comma = strchr(text, ',')) != NULL)
		*comma = '.';
	*value = strtod(text, &end);
	return end == text + field->length;
}

/* --- tables -------------------------------------------------------------------------------- */

enum { FIELDS_MOST = 256, SKIPPED = UINT8_MAX };

/* A file that is read. */
struct csv_reading {
	struct sl_csv *text;
	bool reads;                     /* not only measures */
	uint32_t n_fields;              /* of a line */
	uint8_t column_of[FIELDS_MOST]; /* the index of the column of a field, or SKIPPED */
};

/* Fails if a name is that of a column and a unit: the units of columns are fixed. */
static enum sl_status check_unit(const struct sl_csv_text *name)
{
	size_t n = 0;

	while (n < name->length && !strchr(" [(", name->at[n]))
		n++;
	if (n == name->length || sl_list_column(name->at, n) == SL_COLUMN_COUNT)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"column '%.*s': columns have no units in their names, but always those of the program "
		"(cm, keV, ns); convert the numbers and name it %.*s",
		(int)(name->length & 0x3f), name->at, (int)n, name->at);
}

/* Adds a column of that name to the table. */
static enum sl_status add_column(
	struct csv_reading *r, struct sl_table *t, const struct sl_csv_text *name)
{
	const bool any = r->text->any;
	const enum sl_column column = any ? sl_list_column(name->at, name->length)
	                                  : sl_table_column_named(t, name->at, name->length);

	if (r->n_fields == FIELDS_MOST)
		return damaged("its first line has more than 256 names");
	r->column_of[r->n_fields++] =
		column == SL_COLUMN_COUNT ? (uint8_t)SKIPPED : (uint8_t)t->n_columns;
	if (column == SL_COLUMN_COUNT && any)
		return r->reads ? check_unit(name) : SL_OK;
	if (column == SL_COLUMN_COUNT)
		return damaged("its first line has a column name that is not known");
	if (sl_table_find(t, column))
		return damaged("its first line has a column name twice");
	t->column[t->n_columns++] = (struct sl_table_column){.column = column};
	return SL_OK;
}

/*
 * Adds the columns that the first line names, in its order. A table without columns has an empty
 * one.
 */
static enum sl_status read_header(struct csv_reading *r, struct sl_table *t)
{
	struct sl_csv_text line, name;

	r->n_fields = 0;
	SL_TRY(sl_csv_next_line(r->text, &line));
	if (!line.at)
		return damaged("it is empty");
	if (line.length == 0)
		return SL_OK;
	while (sl_csv_next_field(r->text, &line, &name))
		SL_TRY(add_column(r, t, &name));
	return SL_OK;
}

/*
 * Limits of the number of rows whose bytes the file need not contain: DEFLATE stores a thousand
 * newlines in a byte, so a small file could ask for minutes of work.
 */
enum { ROWS_WITHOUT_COLUMNS = 1 << 16 };

/* Refuses a row that cannot be valid, or one too many, so that the rest of the file is not read. */
static enum sl_status check_row(const struct sl_table *t, size_t length)
{
	if (t->n == UINT32_MAX)
		return damaged("it has more rows than a batch can have");
	if (t->n_columns == 0 && t->n == ROWS_WITHOUT_COLUMNS)
		return damaged("it has no columns, but more than 65536 rows");
	if (t->n_columns > 0 && length < 2 * (size_t)t->n_columns - 1)
		return sl_add_context(damaged("it has fewer values than columns"), "row %u", t->n);
	return SL_OK;
}

/* Counts the rows after the first line. */
static enum sl_status count_rows(struct csv_reading *r, struct sl_table *t)
{
	struct sl_csv_text line;

	for (;; t->n++) {
		SL_TRY(sl_csv_next_line(r->text, &line));
		if (!line.at)
			return SL_OK;
		SL_TRY(check_row(t, line.length));
	}
}

/* Stores a value in a row of a column; false if it is not spelled as the format prints it. */
static inline bool parse_item(const struct sl_powers *powers, const struct sl_table_column *c,
	uint32_t row, const struct sl_csv_text *field)
{
	const struct sl_column_facts *f = sl_facts_of(c);
	const bool is_signed = f->type == SL_TYPE_I32;
	uint64_t v;

	if (f->type == SL_TYPE_F32)
		return sl_parse_f32(powers, field->at, field->length, (float *)c->data + row);
	const bool negative = is_signed && field->length > 0 && *field->at == '-';
	if (!sl_parse_u64(field->at + negative, field->length - negative, &v) ||
		v > (is_signed ? (uint64_t)INT32_MAX + negative
			       : UINT64_MAX >> (64 - 8 * f->bytes)) ||
		(negative && v == 0)) /* 0 has no sign */
		return false;
	v = negative ? 0 - v : v;
	memcpy((char *)c->data + (size_t)row * f->bytes, &v, f->bytes);
	return true;
}

/* Stores the values of a line in a row of all columns; refuses missing and additional values. */
static enum sl_status parse_row(struct csv_reading *r, const struct sl_powers *powers,
	const struct sl_table *t, uint32_t row, struct sl_csv_text *line)
{
	struct sl_csv *l = r->text;
	struct sl_csv_text field;
	double value;

	for (uint32_t i = 0; i < r->n_fields; i++) {
		const uint8_t k = r->column_of[i];
		bool found = sl_csv_next_field(l, line, &field);

		if (found && k != SKIPPED && t->column[k].data)
			found = l->any ? sl_csv_number(l, &field, &value) &&
			                         sl_store_number(&t->column[k], row, value)
			               : parse_item(powers, &t->column[k], row, &field);
		if (!found)
			return sl_add_context(
				l->any ? sl_fail(SL_BAD_INPUT,
						 "a value is missing, or is no number that "
						 "the column can hold; correct it")
				       : damaged("a value is not a number as this program prints it"),
				"row %u, column %s", row, k == SKIPPED ? "" : sl_table_name(t, k));
	}
	if (t->n_columns ? line->at != NULL : line->length > 0)
		return sl_add_context(damaged("more fields than columns"), "row %u", row);
	return SL_OK;
}

/*
 * Reads all rows, as many as t->n. The first line is read again, to pass over it: its columns were
 * added before.
 */
static enum sl_status parse_rows(struct csv_reading *r, struct sl_table *t)
{
	struct sl_table header = {0};
	struct sl_powers powers;
	struct sl_csv_text line;

	sl_powers_make(&powers);
	SL_TRY(sl_csv_begin(r->text));
	r->reads = true;
	SL_TRY(read_header(r, &header));
	for (uint32_t row = 0;; row++) {
		SL_TRY(sl_csv_next_line(r->text, &line));
		if (!line.at || row == t->n)
			return !line.at && row == t->n ? SL_OK : damaged("its rows were changed");
		SL_TRY(parse_row(r, &powers, t, row, &line));
	}
}

/*
 * Rows are counted before memory is cut, unless their number is known, so a damaged file cannot
 * request more than it contains.
 */
static enum sl_status read_file(const void *file, size_t bytes, bool gzipped, bool any,
	struct sl_arena *a, struct sl_table *t)
{
	SL_CLOSED_BY(sl_csv_close)
	struct sl_csv text = {.file = file,
		.bytes = bytes,
		.gzipped = gzipped,
		.any = any,
		.separators = any ? ",;\t" : ",",
		.around = "# \t\r\"'"};
	struct csv_reading r = {.text = &text};
	const bool known = t->known > 0 && t->known / SL_INFLATE_RATIO_MAX <= bytes;

	sl_read_begin(t);
	SL_TRY(sl_csv_begin(&text));
	SL_TRY(read_header(&r, t));
	if (known)
		t->n = t->known;
	else
		SL_TRY(count_rows(&r, t));
	for (uint32_t i = 0; i < t->n_columns; i++)
		t->column[i].data = sl_read_cut(a, t, i);
	if (!a->base)
		return SL_OK;
	SL_TRY(sl_format_check_columns(a));
	return parse_rows(&r, t);
}

enum sl_status sl_csv_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	return read_file(file, bytes, false, false, a, t);
}

enum sl_status sl_csv_gz_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	return read_file(file, bytes, true, false, a, t);
}

enum sl_status sl_csv_read_any(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	return read_file(file, bytes, sl_is_gzip(file, bytes), true, a, t);
}

/*
 * Only reading all of it shows that the spelling is that of this program: C prints 1e-05 for its
 * 1e-5, and a file can have thousands of rows before such a number.
 */
bool sl_csv_is_any(const void *file, size_t bytes)
{
	SL_CLOSED_BY(sl_host_give) void *block = NULL;
	struct sl_arena a = {0};
	struct sl_table t = {.n = 0};
	size_t used;

	return sl_format_load(sl_is_gzip(file, bytes) ? sl_csv_gz_read : sl_csv_read, file, bytes,
		       &t, &block, &used) == SL_BAD_INPUT &&
	       sl_csv_read_any(file, bytes, &a, &t) == SL_OK && sl_table_find(&t, SL_COLUMN_energy);
}
