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

#include "stages/formats/common/common.h"

/* --- lines and fields ---------------------------------------------------------------------- */

/* Size of the window, and limit of a line: far more than the longest line of a table. */
enum { WINDOW_BYTES = 1 << 16, FIELDS_MOST = 256, NUMBER_MOST = 63, SKIPPED = UINT8_MAX };

/* The text of a file, line by line. */
struct lines {
	const void *file;
	size_t bytes;
	bool gzipped, any; /* any: of any program */
	char *window;      /* of a file in gzip */
	struct sl_inflate z;
	const char *text;  /* the window, or the file */
	size_t begin, end; /* offsets in it of the text not read yet */
	bool reads;        /* not only measures */
	char separator;
	uint32_t n_fields; /* of a line */
	uint8_t column_of
		[FIELDS_MOST]; /* the index of the column of a field in the table, or SKIPPED */
};

/* Fails with what is wrong with the file. */
static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not a csv or csv.gz file of this program; inspect "
		"it with zcat -f, or make it again",
		problem);
}

/* Moves the unread text to the begin of the window and fills the rest; *more: text was added. */
static enum sl_status refill(struct lines *l, bool *more)
{
	size_t got, left = l->end - l->begin;

	*more = false;
	if (!l->gzipped)
		return SL_OK;
	memmove(l->window, l->window + l->begin, left);
	SL_TRY(sl_inflate_next(&l->z, l->window + left, WINDOW_BYTES - left, &got));
	l->begin = 0;
	l->end = left + got;
	*more = got > 0;
	return SL_OK;
}

/* The next line without its newline; NULL at the end of the text. */
static enum sl_status next_line(struct lines *l, const char **line, size_t *length)
{
	bool more = true;

	for (;;) {
		const size_t left = l->end - l->begin,
			     most = left < WINDOW_BYTES ? left : WINDOW_BYTES;
		const char *begin = l->text + l->begin;
		const char *newline = most > 0 ? (const char *)memchr(begin, '\n', most) : NULL;

		*line = newline ? begin : NULL;
		if (newline) {
			*length = (size_t)(newline - begin);
			l->begin += *length + 1;
			if (l->any && *length <= 1 && (*length == 0 || *begin == '\r'))
				continue; /* it is empty */
			return SL_OK;
		}
		if (most == WINDOW_BYTES)
			return damaged("a line is longer than a line of any table");
		if (!more && l->any && left > 0) {
			*line = begin;
			*length = left;
			l->begin = l->end;
			return SL_OK;
		}
		if (!more)
			return left == 0 ? SL_OK : damaged("its last line has no end (no newline)");
		SL_TRY(refill(l, &more));
	}
}

/* The next field of a line, up to a separator or the end. False if there is none. */
static bool next_field(
	const struct lines *l, const char **at, const char *end, const char **field, size_t *length)
{
	const char *comma;

	if (*at > end)
		return false;
	comma = (const char *)memchr(*at, l->separator, (size_t)(end - *at));
	*field = *at;
	*length = (size_t)((comma ? comma : end) - *at);
	*at += *length + 1;
	return true;
}

/* --- tables -------------------------------------------------------------------------------- */

/* Removes blanks, quotes and the mark of a comment at the ends of a field. */
static void trim(const char **field, size_t *length)
{
	for (; *length > 0 && strchr("# \t\r\"'", **field); ++*field)
		--*length;
	while (*length > 0 && strchr(" \t\r\"'", (*field)[*length - 1]))
		--*length;
}

/* Fails if a name is that of a column and a unit: the units of columns are fixed. */
static enum sl_status check_unit(const char *name, size_t length)
{
	size_t n = 0;

	while (n < length && !strchr(" [(", name[n]))
		n++;
	if (n == length || sl_list_column(name, n) == SL_COLUMN_COUNT)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"column '%.*s': columns have no units in their names, but always those of the program "
		"(cm, keV, ns); convert the numbers and name it %.*s",
		(int)(length & 0x3f), name, (int)n, name);
}

/* Adds a column of that name to the table. */
static enum sl_status add_column(
	struct lines *l, struct sl_table *t, const char *name, size_t length)
{
	enum sl_column column;

	if (l->any)
		trim(&name, &length);
	column = l->any ? sl_list_column(name, length) : sl_table_column_named(t, name, length);
	if (l->n_fields == FIELDS_MOST)
		return damaged("its first line has more than 256 names");
	l->column_of[l->n_fields++] =
		column == SL_COLUMN_COUNT ? (uint8_t)SKIPPED : (uint8_t)t->n_columns;
	if (column == SL_COLUMN_COUNT && l->any)
		return l->reads ? check_unit(name, length) : SL_OK;
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
static enum sl_status read_header(struct lines *l, struct sl_table *t)
{
	const char *at, *field;
	size_t length;

	SL_TRY(next_line(l, &at, &length));
	if (!at)
		return damaged("it is empty");
	const char *end = at + length;
	l->separator = ',';
	if (l->any && !memchr(at, ',', length))
		l->separator = memchr(at, ';', length) ? ';' : '\t';
	while (length && next_field(l, &at, end, &field, &length))
		SL_TRY(add_column(l, t, field, length));
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

/* Reads the columns and counts the rows. */
static enum sl_status measure(struct lines *l, struct sl_table *t)
{
	const char *line;
	size_t length;

	SL_TRY(read_header(l, t));
	for (;;) {
		SL_TRY(next_line(l, &line, &length));
		if (!line)
			return SL_OK;
		SL_TRY(check_row(t, length));
		t->n++;
	}
}

/* Accepts only what print_i32() prints: 0 has no sign. */
static bool parse_i32(const char *text, size_t length, int32_t *v)
{
	bool negative = length > 0 && *text == '-';
	uint64_t magnitude;

	if (!sl_parse_u64(text + negative, length - negative, &magnitude) ||
		magnitude > (uint64_t)INT32_MAX + negative || (negative && magnitude == 0))
		return false;
	*v = (int32_t)(negative ? -(int64_t)magnitude : (int64_t)magnitude);
	return true;
}

/* Stores a value in a row of a column; false if it is not spelled as the format prints it. */
static bool parse_item(const struct sl_powers *powers, const struct sl_table_column *c,
	uint32_t row, const char *text, size_t length)
{
	uint64_t v = 0;

	switch (sl_facts_of(c)->type) {
	case SL_TYPE_F32:
		return sl_parse_f32(powers, text, length, (float *)c->data + row);
	case SL_TYPE_U32:
		return sl_parse_u64(text, length, &v) && v <= UINT32_MAX &&
		       (((uint32_t *)c->data)[row] = (uint32_t)v, true);
	case SL_TYPE_U64:
		return sl_parse_u64(text, length, (uint64_t *)c->data + row);
	case SL_TYPE_U8:
		return sl_parse_u64(text, length, &v) && v <= UINT8_MAX &&
		       (((uint8_t *)c->data)[row] = (uint8_t)v, true);
	case SL_TYPE_I32:
		return parse_i32(text, length, (int32_t *)c->data + row);
	}
	return false;
}

/* The same for a number in any spelling. */
static bool parse_any(
	const struct sl_table_column *c, uint32_t row, const char *field, size_t length)
{
	char text[NUMBER_MOST + 1], *end;
	double value;

	trim(&field, &length);
	if (length == 0 || length > NUMBER_MOST)
		return false;
	memcpy(text, field, length);
	text[length] = '\0';
	value = strtod(text, &end);
	return end == text + length && sl_store_number(c, row, value);
}

/* Stores the values of a line in a row of all columns; refuses missing and additional values. */
static enum sl_status parse_row(const struct lines *l, const struct sl_powers *powers,
	const struct sl_table *t, uint32_t row, const char *line, size_t length)
{
	const char *at = line, *end = line + length, *field;

	for (uint32_t i = 0; i < l->n_fields; i++) {
		const uint8_t k = l->column_of[i];
		bool found = next_field(l, &at, end, &field, &length);

		if (found && k != SKIPPED && t->column[k].data)
			found = l->any ? parse_any(&t->column[k], row, field, length)
			               : parse_item(powers, &t->column[k], row, field, length);
		if (!found)
			return sl_add_context(
				l->any ? sl_fail(SL_BAD_INPUT,
						 "a value is missing, or is no number that "
						 "the column can hold; correct it")
				       : damaged("a value is not a number as this program prints it"),
				"row %u, column %s", row, k == SKIPPED ? "" : sl_table_name(t, k));
	}
	if (t->n_columns ? at <= end : length > 0)
		return sl_add_context(damaged("more fields than columns"), "row %u", row);
	return SL_OK;
}

/*
 * Reads all rows, as many as t->n. The first line is read again, to pass over it: its columns were
 * added before.
 */
static enum sl_status parse_rows(struct lines *l, struct sl_table *t)
{
	struct sl_table header = {0};
	struct sl_powers powers;
	const char *line;
	size_t length;

	sl_powers_make(&powers);
	l->reads = true;
	SL_TRY(read_header(l, &header));
	for (uint32_t row = 0;; row++) {
		SL_TRY(next_line(l, &line, &length));
		if (!line || row == t->n)
			return !line && row == t->n ? SL_OK : damaged("its rows were changed");
		SL_TRY(parse_row(l, &powers, t, row, line, length));
	}
}

/* Passes the text of the file to a function, from its beginning. */
static enum sl_status read_once(struct lines *l,
	enum sl_status (*how)(struct lines *l, struct sl_table *t), struct sl_table *t)
{
	enum sl_status status;

	l->begin = l->n_fields = 0;
	l->end = l->gzipped ? 0 : l->bytes;
	l->text = l->gzipped ? l->window : l->bytes > 0 ? (const char *)l->file : "";
	if (!l->gzipped)
		return how(l, t);
	SL_TRY(sl_inflate_begin(&l->z, SL_GZIP, l->file, l->bytes));
	l->z.members = true; /* a file of a whole run has several */
	status = how(l, t);
	sl_inflate_end(&l->z);
	return status;
}

/*
 * Rows are counted before memory is cut, unless their number is known, so a damaged file cannot
 * request more than it contains.
 */
static enum sl_status read_text(struct lines *l, struct sl_arena *a, struct sl_table *t)
{
	const bool known = t->known > 0 && t->known / SL_INFLATE_RATIO_MAX <= l->bytes;

	SL_TRY(read_once(l, known ? read_header : measure, t));
	t->n = known ? t->known : t->n;
	for (uint32_t i = 0; i < t->n_columns; i++)
		t->column[i].data = sl_read_cut(a, t, i);
	if (!a->base)
		return SL_OK;
	SL_TRY(sl_format_check_columns(a));
	return read_once(l, parse_rows, t);
}

static enum sl_status read_file(const void *file, size_t bytes, bool gzipped, bool any,
	struct sl_arena *a, struct sl_table *t)
{
	struct lines l = {.file = file, .bytes = bytes, .gzipped = gzipped, .any = any};
	enum sl_status status;
	void *window;

	sl_read_begin(t);
	SL_TRY(sl_memory_get(SL_HOST, gzipped ? WINDOW_BYTES : 0, &window));
	l.window = (char *)window;
	status = read_text(&l, a, t);
	sl_memory_give(SL_HOST, window);
	return status;
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
	struct sl_arena a = {0};
	struct sl_table t = {.n = 0};
	void *block;
	size_t used;
	enum sl_status s = sl_format_load(sl_is_gzip(file, bytes) ? sl_csv_gz_read : sl_csv_read,
		file, bytes, &t, &block, &used);

	sl_memory_give(SL_HOST, block);
	return s == SL_BAD_INPUT && sl_csv_read_any(file, bytes, &a, &t) == SL_OK &&
	       sl_table_find(&t, SL_COLUMN_energy);
}
