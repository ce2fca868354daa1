/*
 * options.h - the command line of sluice-bench, parsed.
 *
 * options.def lists the options. Each list option that the user leaves out has n = 0; the command
 * then uses its own default.
 */
#ifndef SL_BENCH_MEASURE_OPTIONS_H
#define SL_BENCH_MEASURE_OPTIONS_H

#include <stdio.h>

#include "bench/measure/number_list.h"
#include "primitives/primitives.h"
#include "tests/cases/case.h"

#define SL_BENCH_COMMANDS(X)                                                                    \
	X(primitives, "times every backend of scan, compact and sort, a memory copy and CUB")   \
	X(tune, "finds the fastest tuning of each backend and prints how to write it")          \
	X(sweep, "measures the whole data set into a folder: sizes, inputs, tunings, pipeline") \
	X(pipeline, "times one batch from particles to sorted columns: each mode, and CUB's parts")

enum sl_bench_command {
#define X(name, help) SL_BENCH_##name,
	SL_BENCH_COMMANDS(X)
#undef X
		SL_BENCH_NONE
};

/* What a sort moves: keys with an index each, or keys alone. */
enum sl_sort_form { SL_SORT_PAIRS, SL_SORT_KEYS, SL_SORT_FORMS };

struct sl_bench_options {
	enum sl_bench_command command;
	struct sl_number_list sizes;
	struct sl_number_list types;      /* enum sl_type */
	struct sl_number_list inputs;     /* enum sl_input: distributions of the keys */
	struct sl_number_list survivors;  /* enum sl_alive */
	struct sl_number_list columns;    /* of compact, see sl_columns_of_number() */
	struct sl_number_list bits;       /* of keys */
	struct sl_number_list forms;      /* enum sl_sort_form */
	struct sl_number_list off;        /* items between an aligned address and the data */
	struct sl_number_list off_second; /* the same for the second array */
	struct sl_number_list blocks, items;
	struct sl_number_list paddings;         /* enum sl_padding */
	struct sl_number_list seconds, samples; /* at most one number each */
	bool tunings;                           /* all block sizes, items and paddings */
	bool help;
	const char *device; /* "cuda", "cuda:1", "emulated" */
	const char *only;   /* "sort" or "sort/shared"; NULL: all */
	const char *csv, *json;
	const char *out;    /* the folder of sweep */
	const char *config; /* the batch of pipeline and deflate */
	const char *commit; /* of the sources */
	char command_line[1024];
};

/* A number of the list `columns` contains the number of columns and the bytes of an item. */
static inline struct sl_moved_columns sl_columns_of_number(uint32_t number)
{
	struct sl_moved_columns c = {number / 256, number % 256};

	return c;
}

/* Fails with SL_USAGE and a message if the command line is not valid. Strings point into argv. */
enum sl_status sl_bench_options_read(int argc, char **argv, struct sl_bench_options *options);

/*
 * Fails with SL_USAGE if --only selects no backend that the command measures: the command would
 * succeed without a result. The message contains the nearest name or all names. To be called after
 * sl_device_emulate(), which determines the backends that exist.
 */
enum sl_status sl_bench_options_check_only(const struct sl_bench_options *options);

/* A line of options.def as the help shows it. */
struct sl_bench_option_facts {
	const char *name, *value, *commands,
		*help; /* value: an example or a placeholder; "": a flag */
};

/* Option i of options.def; false after the last one. */
bool sl_bench_option_at(size_t i, struct sl_bench_option_facts *facts);

/* Prints the text of sluice-bench --help. */
void sl_bench_options_help(FILE *out);

/* Does --only select this backend? Without --only every backend is selected. */
bool sl_bench_selects(const struct sl_bench_options *options, const struct sl_backend *backend);

/* The survivor percentages and the key entropies that the command line accepts. */
struct sl_input_choice {
	const char *text;
	uint32_t value; /* enum sl_input or enum sl_alive */
	double number;
};
enum { SL_ENTROPIES = 5, SL_SURVIVORS = 7 };
extern const struct sl_input_choice sl_entropies[SL_ENTROPIES], sl_survivors[SL_SURVIVORS];

#endif
