/* bits_table.h - the configurations of tests/end_to_end/bits/bits.txt and of data/configs. */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_TABLE_H
#define SL_TESTS_SUPPORT_BITS_BITS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	BITS_LINES_MAX = 96,
	BITS_CHOICES = 4,
	BITS_CHOICE_MAX = 16,
	BITS_TEXT_BYTES = 2048,
	BITS_RULES_MAX = 40
};

/* A configuration, and settings of which each round takes one of each choice. */
struct bits_line {
	char title[64], flags[128];
	unsigned particles, batch;
	char text[BITS_TEXT_BYTES]; /* of a shipped file: its path */
	const char *choice[BITS_CHOICES][BITS_CHOICE_MAX];
	size_t n[BITS_CHOICES];
};

/* The lines, and the rules of which a command line is made: "% NAME = TEXT" (bits_words.h). */
struct bits_table {
	struct bits_line line[BITS_LINES_MAX];
	const char *name[BITS_RULES_MAX], *rule[BITS_RULES_MAX];
	size_t lines, rules;
};

/* Reads the table, whose text must stay, and the shipped configurations. */
void bits_table_read(char *text, struct bits_table *t);

/* Tests whether one of these words is the flag. The table says what they mean. */
bool bits_has(const char *flags, const char *flag);

#endif
