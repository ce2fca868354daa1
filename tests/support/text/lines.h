/*
 * lines.h - lines of a text, and whether they match expected ones with wildcards
 * (tests/text/text.c).
 */
#ifndef SL_TESTS_SUPPORT_TEXT_LINES_H
#define SL_TESTS_SUPPORT_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lines {
	char **at; /* pointers into text, or into that of others */
	size_t n;
	char *text; /* owned; NULL: none */
};

bool begins(const char *line, const char *with);
void lines_add(struct lines *l, char *line);
void lines_free(struct lines *l);

/* Splits text, which the lines own. Empty lines at the end are left out. */
struct lines lines_of(char *text);

/* Returns true if they match, else *i and *k are the lines that differ. */
bool lines_match(const struct lines *want, const struct lines *found, size_t *i, size_t *k);

/* Prints the lines that were found, as expected lines: those that match keep their wildcards. */
void lines_update(FILE *out, const struct lines *want, const struct lines *found, const char *mark);

/* Replaces a JSON text by lines: path value. */
char *json_as_lines(char *json);

#endif
