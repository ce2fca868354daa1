/*
 * bits_words.h - the configurations of tests/end_to_end/bits/bits.txt and of data/configs, and
 * command lines that are made at random, by the rules of this table.
 */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_WORDS_H
#define SL_TESTS_SUPPORT_BITS_BITS_WORDS_H

#include "primitives/primitives.h"

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

/* The lines, and the rules of which a command line is made: "% NAME = TEXT" (bits_add()). */
struct bits_table {
	struct bits_line line[BITS_LINES_MAX];
	const char *name[BITS_RULES_MAX], *rule[BITS_RULES_MAX];
	size_t lines, rules;
};

/* Reads the table, whose text must stay, and the shipped configurations. */
void bits_table_read(char *text, struct bits_table *t);

/* Tests whether one of these words is the flag. The table says what they mean. */
bool bits_has(const char *flags, const char *flag);

enum { BITS_WORDS_MAX = 60, BITS_WORDS_BYTES = 8192 };

/* The words of a command line, and its environment. */
struct bits_words {
	size_t n, used;
	const char *word[BITS_WORDS_MAX], *env[4];
	char text[BITS_WORDS_BYTES];
};

/* What rules refer to. */
struct bits_context {
	const struct bits_table *table;
	const char *
		deflate; /* @deflate: a compressor of the host; @twin: that of a device which writes the same bytes */
	char flags[256];
};
extern struct bits_context bits_context;

extern uint64_t bits_chance; /* the state of the generator */

/* Returns one of 0 .. n - 1. */
unsigned bits_one_of(unsigned n);

/* Returns the name of one of the backends, or auto. */
const char *bits_backend(enum sl_primitive primitive, enum sl_space space);

/*
 * Adds what a text says: "--option value", "key=value" for --set, "SL_NAME=value" for the
 * environment, "$RULE", or a word.
 */
SL_PRINTF(2, 3) void bits_add(struct bits_words *w, const char *format, ...);

#endif
