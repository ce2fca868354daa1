/*
 * table.c - writes a table of results as CSV with the origin in comments, and as JSON.
 *
 * Each row is written and flushed at once, and every exit except a crash closes the files. So the
 * files contain all rows that were measured before a failure.
 */
#include "bench/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/text.h"

enum { ROW_BYTES = 8192 };

static void write_json_head(FILE *f, const struct sl_about *about)
{
	char text[ROW_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	sl_json_object(&j, NULL);
	for (int i = 0; i < SL_ABOUT_LINES; i++)
		sl_json_text(&j, sl_about_names[i], about->line[i]);
	sl_json_close(&j);
	fprintf(f, "{\"about\": %s,\n\"rows\": [", text);
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
	char text[ROW_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	sl_json_text(&j, NULL, line);
	if (t->csv)
		fprintf(t->csv, "# left out: %s\n", line);
	if (t->json)
		fprintf(t->json, "%s\n%s", first ? "" : ",", text);
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

/* Quotes a text that contains a comma, a quote or a line break (RFC 4180). */
static void write_text(FILE *f, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', f);
}

static void write_csv(FILE *f, const struct sl_bench_field *field, size_t n, bool names)
{
	const char *separator = "";

	for (size_t i = 0; i < n; i++) {
		if (field[i].digits == SL_BENCH_PRINTED)
			continue;
		fputs(separator, f);
		separator = ",";
		if (names)
			fputs(field[i].name, f);
		else if (field[i].text)
			write_text(f, field[i].text);
		else if (isfinite(field[i].number))
			fprintf(f, "%.*g", field[i].digits, field[i].number);
	}
	fputc('\n', f);
	(void)fflush(f);
}

static void put_fields(
	struct sl_json *j, const struct sl_bench_field *field, size_t n, bool printed)
{
	sl_json_object(j, NULL);
	for (size_t i = 0; i < n; i++)
		if (field[i].digits == SL_BENCH_PRINTED && !printed)
			continue;
		else if (field[i].text)
			sl_json_text(j, field[i].name, field[i].text);
		else
			sl_json_real(j, field[i].name, field[i].number);
	sl_json_close(j);
}

static void write_json(FILE *f, const struct sl_bench_field *field, size_t n, bool first)
{
	char text[ROW_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	put_fields(&j, field, n, false);
	fprintf(f, "%s\n%s", first ? "" : ",", text);
	(void)fflush(f);
}

void sl_bench_row_print(const struct sl_line *lines, const struct sl_bench_field *field, size_t n)
{
	struct sl_result r;

	if (sl_result_begin(&r, lines, stdout) != SL_OK)
		return;
	put_fields(&r.json, field, n, true);
	(void)sl_result_end(&r, SL_OK);
	(void)fflush(stdout);
}

void sl_bench_table_row(struct sl_bench_table *t, const struct sl_line *lines,
	const struct sl_bench_field *field, size_t n)
{
	if (lines)
		sl_bench_row_print(lines, field, n);
	if (t->csv && t->rows == 0)
		write_csv(t->csv, field, n, true);
	if (t->csv)
		write_csv(t->csv, field, n, false);
	if (t->json)
		write_json(t->json, field, n, t->rows == 0);
	t->rows++;
}

void sl_bench_table_leave_out(struct sl_bench_table *t, const char *what)
{
	fprintf(t->left_out.out, "%.*s\n", (int)strcspn(what, "\n"), what);
}
