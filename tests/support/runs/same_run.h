/* same_run.h - compares two runs in the folder of the fixture, and opens one. */
#ifndef SL_TESTS_SUPPORT_RUNS_SAME_RUN_H
#define SL_TESTS_SUPPORT_RUNS_SAME_RUN_H

#include "pipeline/output/output.h"

/*
 * What differs between two runs of one configuration, or NULL: any byte of any file, or in run.json
 * anything but times and what computed the run. Valid until the next call.
 */
const char *difference_of_runs(const char *a, const char *b);

/* Fails the test if they differ. */
void expect_same_runs(const char *a, const char *b);

/* Whether two files in the folder have the same bytes. */
bool is_same_file(const char *a, const char *b);

/* The lines of run.json with sums that do not depend on the batches. The caller frees the text. */
char *sums_of_run(const char *out);

/* Sets name to that of the joined file of a run named t. */
void joined_name(const char *out, const char *format, char name[64]);

/* The run in `out`, opened again from its own files, with a plan for so many threads. */
struct opened {
	struct sl_existing_run existing;
	struct sl_manifest m;
	struct sl_plan *plan;
	struct sl_dir dir;
};
void open_run(struct opened *o, uint32_t threads);
void close_run(struct opened *o);

#endif
