/* measure.h - the command line, the timing of one call, and tables of results. */
#ifndef SL_BENCH_MEASURE_MEASURE_H
#define SL_BENCH_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/help/help.h"
#include "pipeline/print/result.h"
#include "pipeline/text/text.h"
#include "primitives/base/status.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "primitives/primitives.h"
#include "tests/cases/case.h"

/* A list of numbers, as the command line writes it: "2^20,2^24..2^27,1000". */

enum { SL_NUMBER_LIST_MAX = 64 };

struct sl_number_list {
	uint32_t n;
	uint32_t at[SL_NUMBER_LIST_MAX];
};

/* Appends value. False if the list is full or the value has more than 32 bits. */
bool sl_number_list_add(struct sl_number_list *list, uint64_t value);

/* Appends the number "N" or "2^N-K", or every power of two of the range "2^A..2^B". */
bool sl_number_list_read(const char *text, struct sl_number_list *list);

/* Reads one number of the form "N", "2^N" or "2^N-K"; *end is the first character after it. */
bool sl_number_read(const char *text, const char **end, uint64_t *value);

/* Returns list, or usual if list is empty. */
static inline const struct sl_number_list *sl_number_list_or(
	const struct sl_number_list *list, const struct sl_number_list *usual)
{
	return list->n > 0 ? list : usual;
}

/*
 * The command line of sluice-bench, parsed.
 *
 * options.def lists the options. Each list option that the user leaves out has n = 0; the command
 * then uses its own default.
 */

#define SL_BENCH_COMMANDS(X)                                                                    \
	X(primitives, "times every backend of scan, compact, expand and sort, a copy and CUB")  \
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
	struct sl_number_list spare;      /* at most one; see --spare */
	struct sl_number_list blocks, items;
	struct sl_number_list paddings;         /* enum sl_padding */
	struct sl_number_list seconds, samples; /* at most one number each */
	bool tunings;                           /* all block sizes, items and paddings */
	bool wait;                              /* see --wait */
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

/* Prints the text of sluice-bench --help. */
void sl_bench_options_help(FILE *out);

/* What sluice-bench completes. */
extern const struct sl_completed_program sl_completed_bench;

/* Does --only select this backend? Without --only every backend is selected. */
bool sl_bench_selects(const struct sl_bench_options *options, const struct sl_backend *backend);

/* A word that the command line accepts; the survivor percentages and the key entropies. */
struct sl_input_choice {
	const char *text;
	uint32_t value; /* enum sl_input, enum sl_alive, ... */
	double number;
};
enum { SL_ENTROPIES = 5, SL_SURVIVORS = 7 };
extern const struct sl_input_choice sl_entropies[SL_ENTROPIES], sl_survivors[SL_SURVIVORS];

/* The origin of a table: device, versions, host, command, commit and date. */

enum { SL_ABOUT_BYTES = 400, SL_ABOUT_LINES = 6 };
struct sl_about {
	char line[SL_ABOUT_LINES][SL_ABOUT_BYTES];
};
extern const char *const sl_about_names[SL_ABOUT_LINES];

/* cccl: the version of CUB in the form of CCCL_VERSION, 3000001 for 3.0.1; 0: built without CUB. */
void sl_about_make(const struct sl_bench_options *options, const struct sl_device *device, int cccl,
	struct sl_about *about);

/* Prints each line as "# name: text". */
void sl_about_print(const struct sl_about *about, FILE *out);

/*
 * A table of results, written row by row as CSV, as JSON, as both or as neither.
 *
 * Both files start with the origin of the table and end with the list of what was not measured.
 */

/* All rows of a table have the same members. */
struct sl_bench_table {
	FILE *csv, *json;
	char csv_name[SL_PATH_BYTES], json_name[SL_PATH_BYTES];
	size_t rows;
	struct sl_text_memory left_out; /* a line for each measurement that was not made */
	struct sl_json row;             /* the row that is being made, in text */
	char text[8192];
};

/* Creates the files; a name NULL: no such file. To be closed even after a failure. */
enum sl_status sl_bench_table_open(
	struct sl_bench_table *t, const struct sl_about *about, const char *csv, const char *json);
enum sl_status sl_bench_table_close(struct sl_bench_table *t);

/* Begins a row, whose members the caller writes to the object that it returns; NaN: no value. */
struct sl_json *sl_bench_row_begin(struct sl_bench_table *t);

/*
 * Prints the row by a list of lines (result.h) unless lines is NULL, and adds it to the files if it
 * belongs there. Members that are arrays are not in the CSV.
 */
void sl_bench_row_end(struct sl_bench_table *t, const struct sl_line *lines, bool belongs);

/* Adds the first line of a text to the list of what was not measured. */
void sl_bench_table_leave_out(struct sl_bench_table *t, const char *format, ...) SL_PRINTF(2, 3);

/*
 * Times a call on the device, with cold caches and without the host's share.
 *
 * Callers first check the answer of the call: no wrong answer is timed.
 */

/* All values have the unit of the samples. */
struct sl_spread {
	uint32_t n;                               /* samples; 0: none was taken */
	double median, least, most, lower, upper; /* lower, upper: quartiles */
};

/* The spread of n samples; sorts them. */
struct sl_spread sl_spread_of(double *value, uint32_t n);

/* Writes a spread of milliseconds as members of a row: ms_median and others, samples. */
void sl_spread_put(struct sl_json *j, const struct sl_spread *ms);

/* A call to time, and the call that restores its input before each sample. Both only queue work. */
struct sl_timed_call {
	void *ctx;                         /* argument of both */
	enum sl_status (*load)(void *ctx); /* NULL: nothing to restore */
	enum sl_status (*run)(void *ctx);
};

struct sl_call_times {
	struct sl_spread ms; /* on the device */
	double host_ms;      /* median time that the host needs to queue the call */
	bool gated;          /* the device started after the whole call was queued */
};

struct sl_stopwatch {
	void *flush; /* device memory, larger than any cache */
	size_t flush_bytes;
	uint32_t *gate; /* pinned words, see sl_queue_gate() */
	sl_event from, to;
	uint32_t samples; /* lower limit, unless the budget ends first */
	double budget_ms; /* for all samples and warm-ups of a call */
};

/* For the device in use; samples 0: the default. To be closed even after a failure. */
enum sl_status sl_stopwatch_open(uint32_t samples, struct sl_stopwatch *w);
void sl_stopwatch_close(struct sl_stopwatch *w);

/* Times a call that has run at least once, so that its kernels are loaded. */
enum sl_status sl_stopwatch_time(const struct sl_stopwatch *w, const struct sl_timed_call *call,
	struct sl_call_times *times);

/* Empties the caches of a CUDA device and waits for it. */
enum sl_status sl_stopwatch_flush(const struct sl_stopwatch *w);

#endif
