/*
 * compare.h - one configuration through every backend: equal answers, and times.
 *
 * A row is a choice of backends. The host's own come first and are the reference; then, on the
 * device, all of one name together, and each primitive varied by itself. Every batch of every row
 * must have the tally, the survivors and the digests of the reference. A row runs three times: one
 * batch at a time, for the times of the stages; as the configuration says, without compressing and
 * writing; and with both, into a directory of its own that is removed.
 */
#ifndef SL_COMPARE_H
#define SL_COMPARE_H

#include <stdio.h>

#include "pipeline/plan.h"

enum { SL_ROWS_MOST = 64, SL_ROW_NAME_BYTES = 32 };

/* Of milliseconds a batch. */
struct sl_spread {
	double median, least, most;
};

struct sl_row {
	bool on_device;
	struct sl_choice scan, compact, sort;

	/* What came of it. */
	bool differs;
	char story[SL_STORY_BYTES];                   /* where it differs first */
	uint32_t samples;                             /* batches timed */
	struct sl_spread stage[SL_STAGE_COUNT], home; /* home: survivors copied from the device */
	uint64_t bytes[SL_STAGE_COUNT];               /* that a batch must move at least */
	double rate, rate_written; /* particles a second, without and with output; 0: not run */
};

struct sl_comparison {
	struct sl_config config;
	const struct sl_choices *choices;
	char device[128];              /* "NVIDIA H200"; "" when no row is on a device */
	double host_copy, device_copy; /* GB/s read and written by a copy; 0: not measured */
	uint64_t particles, all;       /* compared, and of the configuration */
	uint64_t n_batches;
	uint32_t batch;
	size_t n;
	struct sl_row row[SL_ROWS_MOST];
};

/*
 * Chooses the rows for the resolved configuration: those of the host alone when choices are on the
 * CPU, else those of the device too.
 */
void sl_rows_choose(struct sl_comparison *c);

/* Is a scan part of what this row does? */
bool sl_row_scans(const struct sl_row *row);

/*
 * Runs all rows of c. SL_CHECK_FAILED when any differs from the first; the rest is run all the
 * same. *c is valid then too.
 */
enum sl_status sl_compare(struct sl_comparison *c);

/* The tables, for people; all of it as JSON; a line a row and stage as CSV. */
void sl_compare_print(const struct sl_comparison *c, FILE *out);
enum sl_status sl_compare_json(const struct sl_comparison *c, FILE *out);
void sl_compare_csv(const struct sl_comparison *c, FILE *out);

#endif
