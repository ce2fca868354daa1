/*
 * bench.h - what the parts of sluice-bench share: how a call is timed, what a table is, and the
 * cells that tables are made of.
 *
 * No number without a check: who times a call has seen its answer to be right.
 *
 *	main.c        the commands              asked.c       the command line
 *	time.c        a call against the clock  hold.cu       the stream held, the caches emptied
 *	sheet.c       rows as CSV and JSON      about.c       the machine that a table is of
 *	cells.c       one backend, one job      cub.cu        CUB as backends
 *	primitives.c  tune.c  sweep.c           pipeline.c    cub_pipeline.cu
 *	deflate.c
 */
#ifndef SL_BENCH_BENCH_H
#define SL_BENCH_BENCH_H

#include <stdio.h>

#include "bench/asked.h"
#include "bench/kernels.h"
#include "pipeline/compare/compare.h"
#include "primitives/tuning.h"
#include "tests/cases/contest.h"

SL_C_BEGIN

/* --- time ------------------------------------------------------------------------------------- */

/* A call to be timed, and what must be done before each, outside of the time. Both only queue. */
struct sl_timed {
	void *of;
	enum sl_status (*load)(void *of); /* NULL: nothing */
	enum sl_status (*run)(void *of);
};

struct sl_times {
	struct sl_spread ms; /* on the device */
	double host_ms;      /* median of what the call took on the host: queueing it */
	bool held;           /* the device did not begin before all was queued */
};

struct sl_stopwatch {
	void *flush; /* device memory, larger than any cache */
	size_t flush_bytes;
	uint32_t *hold; /* pinned words, see sl_queue_hold() */
	sl_event from, to;
	uint32_t samples; /* that are wanted at least, of calls that are not slow */
	double budget_ms; /* what they may take, warm-ups and all */
};

/* Of the device in use. To be closed even after a failure. */
enum sl_status sl_stopwatch_open(const struct sl_asked *asked, struct sl_stopwatch *w);
void sl_stopwatch_close(struct sl_stopwatch *w);

/* Times a call that has been made once already, so that its kernels are loaded. */
enum sl_status sl_time(
	const struct sl_stopwatch *w, const struct sl_timed *timed, struct sl_times *times);

/* --- tables ----------------------------------------------------------------------------------- */

/* A value of a row: a text, or a number with so many significant digits; NaN: there is none. */
struct sl_field {
	const char *name;
	const char *text; /* NULL: a number */
	double number;
	int digits;
};

/* Rows for programs: a CSV file, a JSON file, both or none. All rows have the same fields. */
struct sl_sheet {
	FILE *csv, *json;
	char csv_name[SL_PATH_BYTES], json_name[SL_PATH_BYTES];
	size_t rows;
	FILE *left; /* in memory: what was left out, a line each */
	char *left_text;
	size_t left_bytes;
};

/* What a table is about: device, versions, host, command, commit, date; a text each. */
enum { SL_ABOUT_BYTES = 400, SL_ABOUT_LINES = 6 };
struct sl_about {
	char device[SL_ABOUT_BYTES], cuda[SL_ABOUT_BYTES], host[SL_ABOUT_BYTES];
	char command[SL_ABOUT_BYTES], commit[SL_ABOUT_BYTES], date[SL_ABOUT_BYTES];
};
void sl_about_make(
	const struct sl_asked *asked, const struct sl_device *device, struct sl_about *about);

/* The i-th of its lines: a name and a text; false past the last. */
bool sl_about_line(const struct sl_about *about, size_t i, const char **name, const char **text);
void sl_about_print(const struct sl_about *about, FILE *out);

/* Makes the files that are named; NULL: none. To be closed even after a failure. */
enum sl_status sl_sheet_open(
	struct sl_sheet *t, const struct sl_about *about, const char *csv, const char *json);
enum sl_status sl_sheet_close(struct sl_sheet *t);

void sl_sheet_row(struct sl_sheet *t, const struct sl_field *field, size_t n);

/* Says that something was not measured: at the foot of the files. */
void sl_sheet_left_out(struct sl_sheet *t, const char *what);

/* --- cells ------------------------------------------------------------------------------------ */

/* A bench on its way. */
struct sl_bench {
	const struct sl_asked *asked;
	struct sl_about about;
	struct sl_device device;
	struct sl_stopwatch watch;
	uint64_t deadline_ns; /* nothing is begun behind it; 0: none */
	struct sl_sheet *sheet;
	uint32_t copy_n; /* what the copy below was of */
	double copy_gb_s;
	double cub_ms; /* of the job at hand; 0: not known */
	bool wrong;    /* an answer was */
};

/* Is there time left for something that takes so long? */
bool sl_bench_has_time(const struct sl_bench *b, double seconds);

/* A job: what is measured, but for who does it. */
struct sl_job {
	enum sl_primitive primitive;
	struct sl_setting set; /* its tuning is not looked at */
};

/* "sort u32, n=1048576, 32 bits, entropy 0.811"; "sort-keys ...": keys alone. */
enum { SL_JOB_BYTES = 160 };
const char *sl_job_text(const struct sl_job *job, char text[SL_JOB_BYTES]);

/* Its name, "random": 1, and so on; NaN: other inputs. */
double sl_input_entropy(enum sl_input input);

/* Its percentage; NaN: others. */
double sl_alive_percent(enum sl_alive alive);

/* The backends of a job, in the order of the matrix; NULL past the last. */
const struct sl_backend *sl_job_backend(
	const struct sl_asked *asked, enum sl_primitive p, size_t i);

/*
 * Which tunings of a backend are measured: its choice, those asked for, or all. each is called for
 * them one by one, until it fails.
 */
typedef enum sl_status sl_each_tuning(void *of, struct sl_tuning tuning);
enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_asked *asked, sl_each_tuning *each, void *of);

/* Heads what sl_cell_measure prints. */
void sl_cell_heading(void);

/* Times a copy of n words of 4 bytes. */
enum sl_status sl_copy_time(const struct sl_bench *b, uint32_t n, struct sl_times *times);

/*
 * Opens the contest of a job, with the copy and CUB as the first rows of the table. Closed by
 * sl_contest_close(), even after a failure.
 */
enum sl_status sl_job_open(struct sl_bench *b, const struct sl_job *job, struct sl_contest *c);

/* Checks and times, no more. */
enum sl_status sl_cell_time(const struct sl_bench *b, struct sl_contest *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_times *times);

/*
 * Checks, times, prints and writes: a backend with a tuning does the job of a contest. times may be
 * NULL. Fails only where nothing more can be measured: a wrong answer is noted in b.
 */
enum sl_status sl_cell_measure(struct sl_bench *b, struct sl_contest *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_times *times);

/* A whole job: the copy, CUB, every backend asked for with every tuning asked for. */
enum sl_status sl_job_measure(struct sl_bench *b, const struct sl_job *job);

/* --- commands --------------------------------------------------------------------------------- */

enum sl_status sl_bench_primitives(struct sl_bench *b);
enum sl_status sl_bench_deflate(struct sl_bench *b);
enum sl_status sl_bench_tune(struct sl_bench *b);
enum sl_status sl_bench_sweep(struct sl_bench *b);
enum sl_status sl_bench_pipeline(struct sl_bench *b);

/* The pipeline of one size, as rows of b->sheet; and what heads them where they are printed. */
enum sl_status sl_pipeline_row(struct sl_bench *b, uint32_t n);
void sl_pipeline_heading(void);

/* The plan of one batch of n particles on the device in use, in that mode (NULL: its own). To be
 * freed, even after a failure. */
enum sl_status sl_pipeline_plan(
	const struct sl_bench *b, uint32_t n, const char *mode, struct sl_plan **plan);

SL_C_END

#endif
