/*
 * contest.h - one job done by one device backend after another, with one tuning after another.
 *
 * The first answer is checked by the case; as it is the only right one, all others must be the same
 * bytes, which the device itself compares. So the host makes and checks a job once, not once a
 * backend: what large sizes and many tunings need.
 *
 *	sl_contest_open(&c, set)  ->  sl_contest_enter(&c, b, tuning)  ->  sl_contest_try(&c)
 *	                                   ^------------------------------------'
 */
#ifndef SL_TESTS_CASES_CONTEST_H
#define SL_TESTS_CASES_CONTEST_H

#include "case.h"

SL_C_BEGIN

struct sl_contest {
	const struct sl_case *of;
	struct sl_trial trial;         /* of the backend that has entered last */
	void *given[SL_TRIAL_BLOCKS];  /* in device memory: what every run finds in the blocks */
	void *answer[SL_TRIAL_BLOCKS]; /* what the first right one left there */
	uint64_t answer_bytes[SL_TRIAL_BLOCKS];
	bool is_answered;
	uint32_t *differ; /* a word of the device */
};

/* Makes the job of primitive p for set, whose tuning is ignored. All in device memory. */
enum sl_status sl_contest_open(
	enum sl_primitive p, const struct sl_setting *set, struct sl_contest *c);
void sl_contest_close(struct sl_contest *c);

/* From now on b does the job, tuned so, in exactly the scratch that it asks for. */
enum sl_status sl_contest_enter(
	struct sl_contest *c, const struct sl_backend *b, struct sl_tuning tuning);

/* Queues what puts every block into the state that a run must find. */
enum sl_status sl_contest_load(struct sl_contest *c);

/* Loads, runs, waits. SL_CHECK_FAILED when the answer is not right. */
enum sl_status sl_contest_try(struct sl_contest *c);

/* Queues *differ = 1 when the blocks are not the same; else leaves it. In differ.cu. */
enum sl_status sl_queue_differ(
	const void *p, const void *q, uint64_t bytes, uint32_t *differ, sl_stream s);
enum sl_status sl_queue_differ_emulated(
	const void *p, const void *q, uint64_t bytes, uint32_t *differ, sl_stream s);

SL_C_END

#endif
