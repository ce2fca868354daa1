/*
 * jobs.h - random jobs of scan, compact and sort, for every backend of a memory space.
 *
 * A size and a number determine a job: input, form, bits, alignment, columns, inner scan and
 * tuning. sampling.h selects the numbers, so that each commit tries others.
 */
#ifndef SL_TESTS_CASES_JOBS_H
#define SL_TESTS_CASES_JOBS_H

#include "case.h"
#include "sampling.h"

struct sl_jobs {
	enum sl_space space;
	uint32_t small, medium,
		large;    /* jobs per backend of a size: up to 300, below 2^20, from 2^20 on */
	uint32_t largest; /* size */
};

/*
 * Runs jobs with all sizes: those of inputs.h, and sizes about the smallest tiles of a backend.
 * Each job runs twice with different poison in scratch and outputs (once on the emulated device),
 * and once with one byte of scratch too little. Stops at the first wrong answer with
 * SL_CHECK_FAILED; the message names the job. Also if there is no job.
 */
enum sl_status sl_jobs_run(const struct sl_jobs *jobs);

/*
 * Sets all fields but n and the tuning to those of the job with this number. Inputs take turns with
 * the number.
 */
void sl_random_setting(const struct sl_backend *b, uint64_t number, struct sl_setting *set);

/*
 * Emulated threads in order, or at random; several blocks in flight, some started from the last;
 * the oldest device.
 */
void sl_random_schedule(uint64_t number);

/* Makes, loads, runs and checks one job. The message of a failure describes it. */
enum sl_status sl_job_check(const struct sl_backend *b, const struct sl_setting *set, int poison);

#endif
