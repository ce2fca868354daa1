/*
 * table.c - writes a table of results as CSV with the origin in comments, and as JSON.
 *
 * Each row is written and flushed at once, and every exit except a crash closes the files. So the
 * files contain all rows that were measured before a failure.
 */
#include "bench/measure/measure.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/print/json_find.h"
#include "pipeline/text/text.h"

/* Significant digits in CSV of numbers that are not whole. */
enum { DIGITS = 6 };

/* A writer of JSON in one line of a file. */
static struct sl_json one_line(FILE *f)
{
	struct sl_json j = sl_json_stream(f);

	j.indented = false;
	return j;
}

static void write_json_head(FILE *f, const struct sl_about *about)
{
	struct sl_json j = one_line(f);

	fputs("{\"about\": ", f);
	sl_json_object(&j, NULL);
	for (int i = 0; i < SL_ABOUT_LINES; i++)
		sl_json_text(&j, sl_about_names[i], about->line[i]);
	sl_json_close(&j);
	fputs(",\n\"rows\": [", f);
}

/* Does nothing without a name. *f is NULL after a failure. */
static enum sl_status create(const char *name, char copy[SL_PATH_BYTES], FILE **f)
{
	if (!name)
		return SL_OK;
	snprintf(copy, SL_PATH_BYTES, "%s", name);
	*f = fopen(name, "w");
	return *f ? SL_OK
	          : sl_fail(SL_DISK, "cannot create %s: %s; choose another file", name,
			    strerror(errno));
}

enum sl_status sl_bench_table_open(
	struct sl_bench_table *t, const struct sl_about *about, const char *csv, const char *json)
{
	memset(t, 0, sizeof(*t));
	SL_TRY(sl_text_memory_begin(&t->left_out));
	SL_TRY(create(csv, t->csv_name, &t->csv));
	SL_TRY(create(json, t->json_name, &t->json));
	if (t->csv)
		sl_about_print(about, t->csv);
	if (t->json)
		write_json_head(t->json, about);
	return SL_OK;
}

static void write_left_out(const struct sl_bench_table *t, const char *line, bool first)
{
	struct sl_json j = one_line(t->json);

	if (t->csv)
		fprintf(t->csv, "# left out: %s\n", line);
	if (t->json) {
		fputs(first ? "\n" : ",\n", t->json);
		sl_json_text(&j, NULL, line);
	}
}

static void write_foot(const struct sl_bench_table *t, char *left_out)
{
	char *rest = left_out;

	if (t->json)
		fputs("\n],\n\"left_out\": [", t->json);
	for (const char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n"))
		write_left_out(t, line, line == left_out);
	if (t->json)
		fputs("\n]}\n", t->json);
}

/*
 * Closes a file, if there is one, after an action with the status s. Returns the first failure, s
 * or that of a write to the file, and leaves its message.
 */
static enum sl_status close_file(enum sl_status s, const char *name, FILE **f)
{
	bool bad = *f && ferror(*f) != 0;

	if (*f)
		bad = fclose(*f) != 0 || bad;
	*f = NULL;
	return s == SL_OK && bad
	               ? sl_fail(SL_DISK, "cannot write all of %s; free space on its disk", name)
	               : s;
}

enum sl_status sl_bench_table_close(struct sl_bench_table *t)
{
	enum sl_status s = SL_OK;
	char *left_out = NULL;
	size_t bytes;

	if (t->left_out.out)
		s = sl_text_memory_end(&t->left_out, "the table", &left_out, &bytes);
	t->left_out.out = NULL;
	if (left_out)
		write_foot(t, left_out);
	free(left_out);
	s = close_file(s, t->csv_name, &t->csv);
	return close_file(s, t->json_name, &t->json);
}

/* No text of a row contains a comma, a quote or a line break. */
static void write_csv(FILE *f, const char *row, bool names)
{
	struct sl_json_item i = {.in = row};

	while (sl_json_next(&i)) {
		const char *value = names ? i.key : i.value;
		const double number = sl_json_number_of(value);

		if (sl_json_is_container(i.value))
			continue;
		fputs(i.number > 1 ? "," : "", f);
		if (*value == '"')
			fprintf(f, "%.*s", (int)(sl_json_end_of(value) - value) - 2, value + 1);
		else if (isfinite(number))
			fprintf(f, "%.*g", number == trunc(number) ? DBL_DIG : DIGITS, number);
	}
	fputc('\n', f);
	(void)fflush(f);
}

struct sl_json *sl_bench_row_begin(struct sl_bench_table *t)
{
	t->row = sl_json_start(t->text, sizeof(t->text), false);
	sl_json_object(&t->row, NULL);
	return &t->row;
}

static void print_row(const struct sl_line *lines, const char *row)
{
	struct sl_result r;

	if (sl_result_begin(&r, lines, stdout) != SL_OK)
		return;
	sl_json_formatted(&r.json, NULL, row);
	(void)sl_result_end(&r, SL_OK);
	(void)fflush(stdout);
}

void sl_bench_row_end(struct sl_bench_table *t, const struct sl_line *lines, bool belongs)
{
	sl_json_close(&t->row);
	if (lines)
		print_row(lines, t->text);
	if (!belongs)
		return;
	if (t->csv && t->rows == 0)
		write_csv(t->csv, t->text, true);
	if (t->csv)
		write_csv(t->csv, t->text, false);
	if (t->json) {
		fprintf(t->json, "%s\n%s", t->rows == 0 ? "" : ",", t->text);
		(void)fflush(t->json);
	}
	t->rows++;
}

void sl_bench_table_leave_out(struct sl_bench_table *t, const char *format, ...)
{
	char line[2 * SL_MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(t->left_out.out, "%.*s\n", (int)strcspn(line, "\n"), line);
}
