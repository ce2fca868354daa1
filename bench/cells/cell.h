/*
 * cell.h - checks and times one backend after another, each with one tuning after another, at the
 * same job.
 */
#ifndef SL_BENCH_CELLS_CELL_H
#define SL_BENCH_CELLS_CELL_H

#include "bench/cells/bench.h"
#include "bench/cells/job.h"
#include "tests/cases/cross_check.h"

/*
 * Opens the cross check of a job and measures the copy and CUB as the first rows of the table. To
 * be closed by sl_cross_check_close(), even after a failure.
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
 * the table says so, if no time is left for the given seconds or if memory does not suffice.
 */
enum sl_status sl_job_measure(struct sl_bench *b, const struct sl_job *job, double seconds);

#endif
