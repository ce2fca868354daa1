/* asked.h - the command line of sluice-bench, parsed. */
#ifndef SL_BENCH_ASKED_H
#define SL_BENCH_ASKED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "primitives/primitives.h"
#include "tests/cases/case.h"

SL_C_BEGIN

#define SL_BENCH_COMMANDS(X)                                                            \
	X(primitives, "scan, compact and sort: every backend against a copy and CUB")   \
	X(tune, "finds block and items of each backend, and writes them to a file")     \
	X(sweep, "the whole data set, into a folder: sizes, inputs, tunings, pipeline") \
	X(pipeline, "a batch from particles to columns: staged, and out of CUB's parts")

enum sl_bench_command {
#define X(name, help) SL_BENCH_##name,
	SL_BENCH_COMMANDS(X)
#undef X
		SL_BENCH_NONE
};

enum { SL_NUMBERS = 64 };

/* What is sorted. */
enum sl_form { SL_PAIRS, SL_KEYS, SL_FORMS };

/* A list of an option. */
struct sl_numbers {
	uint32_t n;
	uint32_t at[SL_NUMBERS];
};

struct sl_asked {
	enum sl_bench_command command;
	struct sl_numbers sizes;
	struct sl_numbers types;     /* enum sl_type */
	struct sl_numbers inputs;    /* enum sl_input; of keys */
	struct sl_numbers survivors; /* enum sl_alive */
	struct sl_numbers columns;   /* of compact: sl_asked_columns() */
	struct sl_numbers bits;      /* of keys; none: all */
	struct sl_numbers forms;     /* of a sort: SL_PAIRS, SL_KEYS; none: both */
	struct sl_numbers off;       /* items that data begins off SL_ALIGN */
	struct sl_numbers blocks, items;
	struct sl_numbers seconds, samples; /* one each */
	bool tunings;                       /* all that there are */
	bool help;
	const char *device; /* "cuda", "cuda:1", "emulated" */
	const char *only;   /* "sort" or "sort/shared"; NULL: all */
	const char *csv, *json;
	const char *out;    /* tune: a file; sweep: a folder */
	const char *config; /* pipeline */
	const char *tuning; /* a tuning file to be read */
	const char *commit; /* of the sources */
	char command_line[1024];
};

/* How many columns, and their bytes an item: one number of the list is both. */
static inline struct sl_taken sl_asked_columns(uint32_t number)
{
	struct sl_taken c = {number / 256, number % 256};

	return c;
}

/* SL_USAGE with a story when the line is not understood. Strings point into argv. */
enum sl_status sl_asked_read(int argc, char **argv, struct sl_asked *asked);

/* sluice-bench --help */
void sl_asked_help(FILE *out);

/* The percentages of survivors and the entropies that can be asked for. */
struct sl_input_choice {
	const char *text;
	uint32_t value; /* enum sl_input or enum sl_alive */
	double number;
};
enum { SL_ENTROPIES = 5, SL_SURVIVORS = 7 };
extern const struct sl_input_choice sl_entropies[SL_ENTROPIES], sl_survivors[SL_SURVIVORS];

SL_C_END

#endif
