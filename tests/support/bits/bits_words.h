/* bits_words.h - command lines that are made at random, by the rules of a table. */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_WORDS_H
#define SL_TESTS_SUPPORT_BITS_BITS_WORDS_H

#include "primitives/primitives.h"
#include "tests/support/bits/bits_table.h"

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

/* Adds what a text says: "--option value", "key=value" for --set, "SL_NAME=value" for the environment, "$RULE", or a word. */
SL_PRINTF(2, 3) void bits_add(struct bits_words *w, const char *format, ...);

#endif
