/*
 * sheet.c - rows for programs: a CSV file that says in comments where it is from, and the same as
 * JSON.
 *
 * Both are written row by row and closed by any end of the program but a crash: what was measured
 * before a failure is there.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "pipeline/text/json.h"

enum { ROW_BYTES = 8192 };

static enum sl_status make_file(const char *name, char kept[SL_PATH_BYTES], FILE **f)
{
	if (!name)
		return SL_OK;
	snprintf(kept, SL_PATH_BYTES, "%s", name);
	*f = fopen(name, "w");
	return *f ? SL_OK
	          : sl_fail(SL_DISK, "%s cannot be made: %s; choose another place", name,
			    strerror(errno));
}

static void head_json(FILE *f, const struct sl_about *about)
{
	char text[ROW_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), false);
	const char *name, *line;

	sl_json_object(&j, NULL);
	for (size_t i = 0; sl_about_line(about, i, &name, &line); i++)
		sl_json_text(&j, name, line);
	sl_json_close(&j);
	fprintf(f, "{\"about\": %s,\n\"rows\": [", text);
}

enum sl_status sl_sheet_open(
	struct sl_sheet *t, const struct sl_about *about, const char *csv, const char *json)
{
	memset(t, 0, sizeof(*t));
	t->left = open_memstream(&t->left_text, &t->left_bytes);
	if (!t->left)
		return sl_fail(SL_HOST_MEMORY, "no memory for a table; close other programs");
	SL_TRY(make_file(csv, t->csv_name, &t->csv));
	SL_TRY(make_file(json, t->json_name, &t->json));
	if (t->csv)
		sl_about_print(about, t->csv);
	if (t->json)
		head_json(t->json, about);
	return SL_OK;
}

static enum sl_status close_file(FILE **f, const char *name)
{
	bool bad;

	if (!*f)
		return SL_OK;
	bad = ferror(*f) != 0;
	bad = fclose(*f) != 0 || bad;
	*f = NULL;
	return bad ? sl_fail(SL_DISK, "%s could not be written whole; make room for it", name)
	           : SL_OK;
}

/* A line of what was left out, at the foot of both files. */
static void write_left(const struct sl_sheet *t, const char *line, bool first)
{
	char text[ROW_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	sl_json_text(&j, NULL, line);
	if (t->csv)
		fprintf(t->csv, "# left out: %s\n", line);
	if (t->json)
		fprintf(t->json, "%s\n%s", first ? "" : ",", text);
}

static void write_foot(struct sl_sheet *t)
{
	char *rest = t->left_text;

	if (t->json)
		fputs("\n],\n\"left_out\": [", t->json);
	for (const char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n"))
		write_left(t, line, line == t->left_text);
	if (t->json)
		fputs("\n]}\n", t->json);
}

enum sl_status sl_sheet_close(struct sl_sheet *t)
{
	enum sl_status csv, json;

	if (t->left && fclose(t->left) == 0)
		write_foot(t);
	free(t->left_text);
	t->left = NULL;
	t->left_text = NULL;
	csv = close_file(&t->csv, t->csv_name);
	json = close_file(&t->json, t->json_name);
	return csv != SL_OK ? csv : json;
}

/* In quotes where a comma, a quote or a line's end is in it (RFC 4180). */
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

static void write_csv(FILE *f, const struct sl_field *field, size_t n, bool names)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fputc(',', f);
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

static void write_json(FILE *f, const struct sl_field *field, size_t n, bool first)
{
	char text[ROW_BYTES];
	struct sl_json j = sl_json_start(text, sizeof(text), false);

	sl_json_object(&j, NULL);
	for (size_t i = 0; i < n; i++)
		if (field[i].text)
			sl_json_text(&j, field[i].name, field[i].text);
		else
			sl_json_real(&j, field[i].name, field[i].number);
	sl_json_close(&j);
	fprintf(f, "%s\n%s", first ? "" : ",", text);
	(void)fflush(f);
}

void sl_sheet_row(struct sl_sheet *t, const struct sl_field *field, size_t n)
{
	if (t->csv && t->rows == 0)
		write_csv(t->csv, field, n, true);
	if (t->csv)
		write_csv(t->csv, field, n, false);
	if (t->json)
		write_json(t->json, field, n, t->rows == 0);
	t->rows++;
}

void sl_sheet_left_out(struct sl_sheet *t, const char *what)
{
	fprintf(t->left, "%.*s\n", (int)strcspn(what, "\n"), what);
}
