/* comparison.h - the cases of a comparison and their results. */
#ifndef SL_PIPELINE_COMPARE_COMPARISON_H
#define SL_PIPELINE_COMPARE_COMPARISON_H

#include "pipeline/results/spread.h"
#include "pipeline/run/run.h"

enum { SL_CASES_MAX = 64 };

/* The emulated device does as much in a few seconds: more particles only if all are asked for. */
enum { SL_EMULATED_PARTICLES = 20000 };

enum sl_answer {
	SL_ANSWER_NONE, /* it did not run */
	SL_ANSWER_SAME,
	SL_ANSWER_DIFFERS,
	SL_ANSWER_FAILED /* it gave none */
};

struct sl_comparison_case {
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
	struct sl_comparison_case row[SL_CASES_MAX];
};

#endif
