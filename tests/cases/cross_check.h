/*
 * cross_check.h - runs one job with several device backends and tunings, and compares the answers.
 *
 * The case checks the first answer on the host. A job has only one right answer, so the device
 * compares all later answers with the first, byte by byte. Large sizes and many tunings need this,
 * because the host makes and checks a job only once.
 *
 *	sl_cross_check_open(&c, set)  ->  sl_cross_check_select(&c, b, tuning)  ->  sl_cross_check_run(&c)
 *	                                   ^------------------------------------'
 */
#ifndef SL_TESTS_CASES_CROSS_CHECK_H
#define SL_TESTS_CASES_CROSS_CHECK_H

#include "case.h"

SL_C_BEGIN

struct sl_cross_check {
	const struct sl_case *of;
	struct sl_trial trial;        /* of the selected backend */
	void *given[SL_TRIAL_BLOCKS]; /* device memory: contents of the blocks before every run */
	void *answer
		[SL_TRIAL_BLOCKS]; /* device memory: contents of the blocks after the first run */
	uint64_t answer_bytes[SL_TRIAL_BLOCKS];
	bool is_answered;
	uint32_t *differ; /* device memory: one word */
};

/* Makes the job of primitive p for set in device memory. The tuning of set is ignored. */
enum sl_status sl_cross_check_open(
	enum sl_primitive p, const struct sl_setting *set, struct sl_cross_check *c);
void sl_cross_check_close(struct sl_cross_check *c);

/* Selects backend and tuning of later runs, and allocates exactly the scratch that they require. */
enum sl_status sl_cross_check_select(
	struct sl_cross_check *c, const struct sl_backend *b, struct sl_tuning tuning);

/* Queues copies that restore all blocks and poison the scratch. */
enum sl_status sl_cross_check_load(struct sl_cross_check *c);

/* Loads, runs and waits. Returns SL_CHECK_FAILED if the answer is wrong. */
enum sl_status sl_cross_check_run(struct sl_cross_check *c);

/* Queues a kernel that sets *differ to 1 if the blocks differ, and else leaves it. In differ.cu. */
enum sl_status sl_queue_differ(
	const void *p, const void *q, uint64_t bytes, uint32_t *differ, sl_stream s);
enum sl_status sl_queue_differ_emulated(
	const void *p, const void *q, uint64_t bytes, uint32_t *differ, sl_stream s);

SL_C_END

#endif
