/* bits_round.h - a configuration of the table, and what its files are: the state of bits.c. */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_ROUND_H
#define SL_TESTS_SUPPORT_BITS_BITS_ROUND_H

#include "tests/support/bits/bits_words.h"

struct bits_round {
	const char *device; /* emulated or cuda */
	bool ranks;         /* all runs are those of several ranks */
	uint64_t seed;
	const struct bits_line *line;
	struct bits_words files; /* settings of all runs */
	const char *format;      /* of them; "": that of the configuration */
	unsigned particles, batch, batches;
};
extern struct bits_round bits_round;

bool bits_on_gpu(void);

/* Chooses the files of a round of the line. */
void bits_round_choose(void);

/* Whether the configuration, or what is chosen, has a flag. */
bool bits_round_has(const char *flag);

/* Returns the value of a setting of the files ("output.order="), or "". */
const char *bits_round_setting(const char *key);

/* Begins a run of the configuration of the round. */
void bits_begin(struct bits_words *w, const char *out, unsigned particles, unsigned batch);

/* Runs a command, which must end with this code, or with any but 0. */
enum { ANY_FAILURE = -1 };
void bits_step(const struct bits_words *w, int code);

/* The same with words that spaces separate, without "sluice". */
void bits_command(const char *line, int code);

/* Adds to the story of the round, which is printed if it fails. */
SL_PRINTF(1, 2) void bits_tell(const char *format, ...);
void bits_tell_words(const struct bits_words *w);
void bits_fail(const char *what);

#endif
