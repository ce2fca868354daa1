/*
 * parts_status.h - how far the parts of a run are: sluice status of the directory that they share.
 *
 * Each part has the status of a run (status.h). Parts that have no directory yet have not started.
 */
#ifndef SL_PIPELINE_STATUS_PARTS_STATUS_H
#define SL_PIPELINE_STATUS_PARTS_STATUS_H

#include "pipeline/status/status.h"

enum { SL_RUN_STATES = SL_RUN_DONE + 1 };

/* Sums over the parts. */
struct sl_parts_status {
	uint64_t of;                   /* parts of the run; 0: the directory has none */
	uint64_t state[SL_RUN_STATES]; /* numbers of parts in each state */
	uint64_t not_started;
	uint64_t batches, n_batches; /* n: of the parts that have started */
	uint64_t particles, n_particles, survivors, bytes;
	struct sl_truncated truncated;
	double rate;                /* of the parts that run, particles per second */
	double seconds_left;        /* of the last of them to end; < 0: not known */
	char why[SL_MESSAGE_BYTES]; /* what is wrong with the first damaged part */
};

/*
 * Reads the parts in dir at a time, in seconds since 1970, and calls each with those that have a
 * directory, in order. each may be NULL.
 */
enum sl_status sl_parts_status_read(const struct sl_dir *dir, double now,
	void (*each)(void *ctx, const struct sl_part *part, const struct sl_run_status *r),
	void *ctx, struct sl_parts_status *sum);

/*
 * Prints the status of the parts in a directory as a table or as JSON, with their sums. *has_parts is
 * false, and nothing is printed, if it has none, or has a run itself. SL_BAD_INPUT if run.json of a part
 * is damaged; the other parts are printed nevertheless.
 */
enum sl_status sl_parts_status_print(const char *directory, bool json, FILE *out, bool *has_parts);

#endif
