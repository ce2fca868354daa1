/* bits_table.h - the configurations of tests/end_to_end/bits/bits.txt and of data/configs. */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_TABLE_H
#define SL_TESTS_SUPPORT_BITS_BITS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { BITS_LINES_MAX = 96, BITS_CHOICES = 4, BITS_CHOICE_MAX = 16, BITS_TEXT_BYTES = 2048 };

/* A configuration, and settings of which each round takes one of each choice. */
struct bits_line {
	char title[64], flags[64];
	unsigned particles, batch;
	bool shipped; /* a file of data/configs, whose path is the text */
	char text[BITS_TEXT_BYTES];
	const char *choice[BITS_CHOICES][BITS_CHOICE_MAX];
	size_t n[BITS_CHOICES];
};

/* Reads the table, whose text must stay, and the shipped configurations. Returns their number. */
size_t bits_table_read(char *table, struct bits_line line[BITS_LINES_MAX]);

/* Tests whether a configuration has a flag. The table says what they mean. */
bool bits_line_has(const struct bits_line *line, const char *flag);

#endif
