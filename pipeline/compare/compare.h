/*
 * compare.h - one configuration through every backend: equal answers, and times.
 *
 * A row is a choice of backends. The host's own come first and are the reference; then, on the
 * device, staged, all of one name together, and each primitive varied by itself; last, fused, every
 * sort. Where particles take many steps, the schedules of rounds follow, on the host and on the
 * device: no compaction, one a round, one when half are dead, and sorts. Every batch of every row
 * must have the tally, the survivors and the digests of the reference.
 *
 * A row runs the whole configuration without compressing and writing, and once more with both, into
 * a folder beside the output that is removed; then its first batch alone, again and again, for the
 * times of the stages. What is timed is run once before, so that nothing is paid for the first
 * time, and then until it has been timed often enough.
 *
 * stop.when is left out: rows are to do the same work, and a batch that is dropped while others are
 * timed would be in their times.
 *
 * A row that fails is told, and the others are run: it may be the only one that needs so much
 * memory. Only what would end all of them ends the comparison: the reference fails, the disk, a
 * signal.
 */
#ifndef SL_PIPELINE_COMPARE_COMPARE_H
#define SL_PIPELINE_COMPARE_COMPARE_H

#include <stdio.h>

#include "pipeline/run/run.h"

enum { SL_ROWS_MAX = 64 };

/* The emulated device does as much in a few seconds: more particles only if all are asked for. */
enum { SL_EMULATED_PARTICLES = 20000 };

/* Times, in ms. */
struct sl_spread {
	uint32_t n;                               /* of how many; 0: none was taken */
	double median, least, most, lower, upper; /* lower, upper: quartiles */
};

enum sl_answer {
	SL_ANSWER_NONE, /* it did not run */
	SL_ANSWER_SAME,
	SL_ANSWER_DIFFERS,
	SL_ANSWER_FAILED /* it gave none */
};

struct sl_row {
	bool on_device;
	enum sl_mode mode;
	struct sl_schedule schedule;
	struct sl_choice scan;    /* no backend: compact and sort have their own */
	struct sl_choice compact; /* staged alone */
	struct sl_choice sort;    /* no backend: there is no key to sort by */

	/* What came of it. */
	enum sl_answer answer;
	enum sl_status status;           /* OK, CHECK_FAILED when it differs, or how it failed */
	char message[SL_MESSAGE_BYTES];  /* where it differs first, or why it failed */
	struct sl_spread whole, written; /* all batches, without and with output */
	uint32_t threads, lanes;         /* for those */
	struct sl_spread stage[SL_STAGE_COUNT], home; /* of a batch; home: copied from the device */
	struct sl_spread all;                         /* the sums of those */
	uint64_t bytes[SL_STAGE_COUNT], home_bytes;   /* that a batch must move at least */
};

struct sl_comparison {
	struct sl_config config;
	struct sl_choices choices;
	struct sl_plan *plan;    /* of the configuration itself, no memory got: what would be run */
	const char *const *argv; /* the command, NULL behind the last word; NULL: none */
	char date[32];           /* when it began, "2026-01-31T12:00:00Z" */
	uint64_t particles;      /* compared: the first of ... */
	uint64_t configured;     /* ... these */
	uint32_t batch;
	uint64_t n_batches;
	double host_copy, device_copy; /* GB/s read and written by a copy; 0: not measured */
	bool ended;                    /* every row was tried */
	size_t n;
	struct sl_row row[SL_ROWS_MAX];
};

/*
 * Plans the comparison of a resolved configuration: of all its particles, or on the emulated device
 * of the first SL_EMULATED_PARTICLES. To be freed even after a failure.
 */
enum sl_status sl_compare_plan(const struct sl_config *config, const struct sl_choices *choices,
	bool all, struct sl_comparison *c);
void sl_compare_free(struct sl_comparison *c);

/*
 * Chooses the rows: those of the host alone when choices are on the CPU, else those of the device
 * too. A part of sl_compare_plan with a file of its own.
 */
void sl_rows_choose(struct sl_comparison *c);

/* Is a scan part of what this row does? */
bool sl_row_scans(const struct sl_row *row);

/* "naive:block=128"; "own" for a scan that the others have, "fused", "-" for none. */
enum { SL_CHOICE_BYTES = 48, SL_ROW_BYTES = 5 * SL_CHOICE_BYTES };
struct sl_row_names {
	char scan[SL_CHOICE_BYTES], compact[SL_CHOICE_BYTES], sort[SL_CHOICE_BYTES];
	char schedule[SL_CHOICE_BYTES]; /* "history"; when rounds compact: "every"; or "sort every
	                                   4" */
};
struct sl_row_names sl_row_names(const struct sl_row *row);

/* "device: scan own, compact naive, sort shared". */
const char *sl_row_text(const struct sl_row *row, char text[SL_ROW_BYTES]);

/* Tells that a row begins. */
typedef void sl_row_begins(const struct sl_comparison *c, size_t row);

/*
 * Runs all rows of c. Of *control, stop and patience are the caller's. SL_CHECK_FAILED if any row
 * differs, else how the first that failed did, else SL_OK. c->ended tells whether all were tried.
 */
enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_row_begins *begins);

/* GB/s of bytes in the median of those times; NaN when there are none. */
double sl_gb_per_second(uint64_t bytes, const struct sl_spread *t);

/* Stage s of a row, in parts of a copy's speed where it runs; NaN likewise. */
double sl_share_of_copy(const struct sl_comparison *c, const struct sl_row *row, int s);

/* Particles a second of a row's whole or written; NaN likewise. */
double sl_particles_per_second(const struct sl_comparison *c, const struct sl_spread *t);

/* The tables, for people; all of it as JSON; a line a row and stage as CSV. */
void sl_compare_print(const struct sl_comparison *c, FILE *out);
enum sl_status sl_compare_json(const struct sl_comparison *c, FILE *out);
void sl_compare_csv(const struct sl_comparison *c, FILE *out);

#endif
