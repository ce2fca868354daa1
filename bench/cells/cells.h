/* cells.h - one job by several backends: check, time, print. */
#ifndef SL_BENCH_CELLS_CELLS_H
#define SL_BENCH_CELLS_CELLS_H

#include "bench/measure/measure.h"
#include "primitives/emulator/access.h"
#include "tests/cases/cross_check.h"

/* The state of one call of sluice-bench, which every command receives. */

struct sl_bench {
	const struct sl_bench_options *options;
	struct sl_about about;
	struct sl_device device;
	struct sl_stopwatch watch;
	uint64_t deadline_ns; /* no measurement starts later; 0: no limit */
	struct sl_bench_table *table;
	uint32_t copy_n; /* words of the copy below */
	double copy_gb_s;
	double cub_ms; /* of the current job; 0: not known */
	bool wrong;    /* a backend gave a wrong answer */
};

/* Is there time left for a measurement that takes so many seconds? */
bool sl_bench_has_time(const struct sl_bench *b, double seconds);

/* A job: a primitive with its input, size and type, which several backends perform. */

struct sl_job {
	enum sl_primitive primitive;
	struct sl_setting set; /* its tuning is ignored */
};

/* The usual job: random values, half of the items survive, all bits of the keys. */
struct sl_job sl_job_usual(enum sl_primitive p, enum sl_type type, uint32_t n);

/* The name of the primitive; "sort-keys" for a sort of keys alone. */
const char *sl_job_name(const struct sl_job *job);

/* "sort u32, n=1048576, 32 bits, entropy 0.811". */
enum { SL_JOB_BYTES = 160 };
const char *sl_job_text(const struct sl_job *job, char text[SL_JOB_BYTES]);

/*
 * The number of an input by its value: of sl_entropies the entropy per bit of the keys, of
 * sl_survivors their percentage; NaN for inputs that the command line does not offer.
 */
double sl_choice_number(const struct sl_input_choice *choice, int n, uint32_t value);

/* The i-th device backend of p that --only selects, in the order of backends.def; NULL past the
 * last. */
const struct sl_backend *sl_job_backend(
	const struct sl_bench_options *options, enum sl_primitive p, size_t i);

/*
 * Counts the memory accesses of a call on the emulated device, where times mean
 * nothing.
 *
 * Counts are shown per item: primitives/emulator/access.h says what each of them is. A build that
 * does not count (access.h) shows "-".
 */

/* In rows that are printed (result.h): times, or the counts in place of them; and what is above. */
#define SL_TIMES_HEADING    " median ms        min        max  of"
#define SL_TIMES            "{ms_median:10.4f} {ms_min:10.4f} {ms_max:10.4f} {samples:3.0f}"
#define SL_ACCESSES_HEADING "   loads  stores sectors  shared conflicts atomics barriers per "
#define SL_ACCESSES                                                                \
	"{loads:8.3g} {stores:7.3g} {sectors:7.3g} {shared:7.3g} {conflicts:9.3g}" \
	" {atomics:7.3g} {barriers:8.3g}"

/* Runs a call of the emulated device once and counts its accesses. The device must be idle. */
enum sl_status sl_accesses_count(const struct sl_timed_call *call, struct sl_access_counts *counts);

/* Writes the counts divided by n as members of a row. NULL: no values, of a device without them. */
void sl_accesses_put(struct sl_json *j, const struct sl_access_counts *counts, double n);

/* Times that are not known, for tables. */
extern const struct sl_call_times sl_no_times;

/* The time of a copy within device memory, with which primitives are compared. */

/* Times a copy of n words of 4 bytes. */
enum sl_status sl_copy_time(const struct sl_bench *b, uint32_t n, struct sl_call_times *times);

/* The tunings (block, items and padding) with which a backend is measured. */

/*
 * Calls each for one tuning after another until it fails: for the default of the backend (a tuning
 * of zeros), for the block, items and padding of the options, or with --tunings for all that are
 * possible.
 */
typedef enum sl_status sl_each_tuning(void *ctx, struct sl_tuning tuning);
enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_bench_options *options, sl_each_tuning *each, void *ctx);

/* A row of results: one backend with one tuning at one job, printed and written to the table. */

struct sl_cell_row {
	const char *primitive, *backend;
	const struct sl_job *job;
	struct sl_tuning tuning; /* 0: the backend has none */
	struct sl_call_times times;
	struct sl_access_counts accesses; /* on the emulated device, shown in place of times */
	uint64_t bytes;                   /* that any algorithm must read and write at least */
};

/* Prints the names of the columns. */
void sl_cell_row_heading(void);

/* bytes / median in 10^9 bytes per second. */
double sl_cell_row_gb_s(const struct sl_cell_row *r);

/*
 * Prints the row and adds it to the table. problem: why it has no time, which the table then lists;
 * or NULL.
 */
void sl_cell_row_show(const struct sl_bench *b, const struct sl_cell_row *r, const char *problem);

/* Checks and times one backend after another, each with one tuning after another, at the same job. */

/*
 * Opens the cross check of a job, *c, which is all 0, and measures the copy and CUB as the first rows
 * of the table. To be closed by sl_cross_check_close(), even after a failure.
 */
enum sl_status sl_job_open(struct sl_bench *b, const struct sl_job *job, struct sl_cross_check *c);

/* Checks the answer of a backend with a tuning, then times it. */
enum sl_status sl_cell_time(const struct sl_bench *b, struct sl_cross_check *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_call_times *times);

/*
 * Checks and times a backend with a tuning, prints the row and adds it to the table. times may be
 * NULL. A wrong answer sets b->wrong and is no failure; only a failure of the device is.
 */
enum sl_status sl_cell_measure(struct sl_bench *b, struct sl_cross_check *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_call_times *times);

/*
 * Measures a job with the copy, CUB, and each selected backend and tuning. The job is left out, and
 * the table says so, if no time is left to make and check it, or if memory does not suffice.
 */
enum sl_status sl_job_measure(struct sl_bench *b, const struct sl_job *job);

#endif
