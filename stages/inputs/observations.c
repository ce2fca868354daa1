/* observations.c - see observations.h. */
#include "stages/inputs/observations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/device/device.h"
#include "primitives/files/files.h"

enum { FIELDS_MAX = 64, BYTES_MAX = 1 << 26 };

/* The field without blanks and quotes around it. */
static char *trim(char *field)
{
	field += strspn(field, " \t\"");
	for (size_t n = strlen(field); n > 0 && strchr(" \t\"", field[n - 1]); n--)
		field[n - 1] = '\0';
	return field;
}

/*
 * Cuts the next line that has fields into them; returns their number, 0 at the end of the text. The
 * first line selects the separator: a semicolon, with which numbers may have a decimal comma, a
 * comma or a tab, or else blanks.
 */
static uint32_t next_line(char **text, uint32_t *number, const char **by, char *field[FIELDS_MAX])
{
	uint32_t n = 0;

	for (char *line; n == 0 && (line = strsep(text, "\n")) != NULL; ++*number) {
		line[strcspn(line, "\r")] = '\0';
		if (*line == '#' || line[strspn(line, " \t")] == '\0')
			continue;
		if (!*by)
			*by = strchr(line, ';')    ? ";"
			      : strchr(line, ',')  ? ","
			      : strchr(line, '\t') ? "\t"
			                           : " ";
		for (char *c = line; **by == ';' && (c = strchr(c, ',')) != NULL;)
			*c = '.';
		while (line && n < FIELDS_MAX) {
			field[n] = trim(strsep(&line, *by));
			n += **by != ' ' || *field[n] != '\0';
		}
	}
	return n;
}

static bool read_number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end && fabs(*value) <= 1e30;
}

/* Sets the places of the columns among the fields of the first line, which may have names. */
static enum sl_status find_columns(char *const *field, uint32_t n_fields,
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
			strcmp(field[place[k]], columns->at[k]) != 0)
			place[k]++;
		if (place[k] == n_fields)
			return sl_fail(SL_USAGE,
				"has no column %s in its first line; correct columns, or the file",
				columns->at[k]);
	}
	return SL_OK;
}

static enum sl_status read_rows(
	char *text, const struct sl_texts *columns, uint32_t most, struct sl_volume *v)
{
	uint32_t number = 0, place[FIELDS_MAX], n, all;
	const char *by = NULL;
	char *field[FIELDS_MAX], *end;

	text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* marks UTF-8 */
	n = all = next_line(&text, &number, &by, field);
	SL_TRY(find_columns(field, n, columns, most, place, &v->size[0]));
	if (n > 0 && ((void)strtod(field[0], &end), *end || end == field[0])) /* also "inflation" */
		n = next_line(&text, &number, &by, field);
	for (; n > 0; n = next_line(&text, &number, &by, field), v->size[1]++) {
		if (n != all)
			return sl_fail(SL_BAD_INPUT,
				"line %u has %u fields, and the first line has %u; correct the "
				"file (between commas, numbers have a decimal point)",
				number, n, all);
		for (uint32_t k = 0; k < v->size[0]; k++) {
			double *to = &v->pixels[(size_t)v->size[1] * most + k];
			const char *shown = field[place[k]];

			if (v->size[1] == SL_OBSERVATIONS_MAX || !read_number(shown, to))
				return sl_fail(SL_BAD_INPUT,
					"line %u, field %u: \"%.40s\" is no finite number, or there are "
					"more than %d observations; correct the file",
					number, place[k] + 1, shown, SL_OBSERVATIONS_MAX);
		}
	}
	for (size_t i = 0; i < (size_t)v->size[0] * v->size[1]; i++)
		v->pixels[i] = v->pixels[i / v->size[0] * most + i % v->size[0]];
	return v->size[1] > 0
	               ? SL_OK
	               : sl_fail(SL_BAD_INPUT, "has no observations; write one in each line");
}

enum sl_status sl_observations_read(
	const char *path, const struct sl_texts *columns, uint32_t n, struct sl_volume *v)
{
	size_t bytes, lines = 2;
	enum sl_status s;
	void *memory;
	char *text;

	*v = (struct sl_volume){.size = {0, 0, 1}};
	SL_TRY(sl_path_read(path, BYTES_MAX, &text, &bytes));
	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	s = sl_memory_get(SL_HOST, lines * n * sizeof(double), &memory);
	v->pixels = s == SL_OK ? (double *)memory : NULL;
	if (s == SL_OK)
		s = read_rows(text, columns, n, v);
	sl_memory_give(SL_HOST, text);
	if (s == SL_OK)
		return s;
	sl_memory_give(SL_HOST, v->pixels);
	v->pixels = NULL;
	return sl_add_context(s, "%s", path);
}
