/*
 * bench.h - what the parts of sluice_bench share: what is asked for, how a call is timed, how a row
 * is printed.
 *
 * No number without a check: who times a call has seen its answer to be right.
 */
#ifndef SL_BENCH_H
#define SL_BENCH_H

#include <stdio.h>

#include "primitives/primitives.h"

SL_C_BEGIN

enum { SL_BENCH_SIZES = 16, SL_BENCH_SAMPLES = 11 };

/* The command line. */
struct sl_asked {
	uint32_t n[SL_BENCH_SIZES];
	uint32_t sizes;
	const char *device;      /* "cuda", "cuda:1", "emulated" */
	const char *csv;         /* a file; NULL: none */
	const char *only;        /* "sort" or "sort/shared"; NULL: all */
	const char *commit;      /* of the sources */
	struct sl_tuning tuning; /* of backends that can be tuned so; 0: their own choice */
	bool tunings;            /* all that there are */
	char command[1024];
};

/* --- time ------------------------------------------------------------------------------------- */

/* Milliseconds on the device. */
struct sl_times {
	float median, least, most;
	uint32_t samples;
};

/* A call to be timed, and what must be done before each, outside of the time. Both only queue. */
struct sl_timed {
	void *of;
	enum sl_status (*load)(void *of);
	enum sl_status (*run)(void *of);
};

struct sl_stopwatch {
	void *flush; /* device memory, larger than any cache */
	size_t flush_bytes;
	sl_event from, to;
};

/* flush_bytes: twice the cache of the device at least. */
enum sl_status sl_stopwatch_open(size_t flush_bytes, struct sl_stopwatch *w);
void sl_stopwatch_close(struct sl_stopwatch *w);

/*
 * Times the call: warm-ups, then the median of up to SL_BENCH_SAMPLES calls, each with cold caches.
 * Slow calls are repeated less, three times at least.
 */
enum sl_status sl_time(
	const struct sl_stopwatch *w, const struct sl_timed *timed, struct sl_times *ms);

/* --- the table -------------------------------------------------------------------------------- */

struct sl_row {
	const char *primitive, *backend, *type;
	uint32_t n;
	struct sl_tuning tuning; /* 0: has none */
	struct sl_times ms;
	uint64_t bytes;   /* the least that must be moved */
	double copy_gb_s; /* of a copy in the device's memory; 0: not known */
	float cub_ms;     /* what CUB takes; 0: not known */
};

struct sl_table {
	FILE *csv; /* NULL: none */
};

/* Writes what the table is about: machine, command, commit, date. */
enum sl_status sl_table_open(
	const struct sl_asked *asked, const struct sl_device *device, struct sl_table *t);
enum sl_status sl_table_close(struct sl_table *t, const char *name);

/* To stdout and to the file. */
void sl_table_heading(void);
void sl_table_row(const struct sl_table *t, const struct sl_row *row);

/* A row that could not be: its backend and why. */
void sl_table_gap(const struct sl_row *row, const char *why);

double sl_gb_per_s(uint64_t bytes, float ms);

/* --- what can be measured --------------------------------------------------------------------- */

/* Every device backend of scan, compact and sort; CUB; and a copy. */
enum sl_status sl_bench_primitives(const struct sl_asked *asked, const struct sl_table *t);

/* CUB as a backend of each primitive, by enum sl_primitive: for the bench alone. In cub.cu. */
extern const struct sl_backend sl_bench_cub[];

SL_C_END

#endif
