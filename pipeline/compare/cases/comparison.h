/* comparison.h - the cases of a comparison and their results; compare.h describes the method. */
#ifndef SL_PIPELINE_COMPARE_CASES_COMPARISON_H
#define SL_PIPELINE_COMPARE_CASES_COMPARISON_H

#include "pipeline/results/spread.h"
#include "pipeline/run/run.h"

enum { SL_CASES_MAX = 64 };

/* The emulated device runs this many particles in a few seconds; --full takes all particles. */
enum { SL_EMULATED_PARTICLES = 20000 };

enum sl_answer {
	SL_ANSWER_NONE, /* the case did not run */
	SL_ANSWER_SAME,
	SL_ANSWER_DIFFERS,
	SL_ANSWER_FAILED /* the case ended with an error */
};

struct sl_comparison_case {
	bool on_device;
	enum sl_mode mode;
	struct sl_schedule schedule;
	struct sl_choice scan;    /* no effect if compact and sort use no scan */
	struct sl_choice compact; /* no backend: fused mode */
	struct sl_choice sort;    /* no backend: survivors have no sort key */

	/* Results. Times are in milliseconds. */
	enum sl_answer answer;
	enum sl_status status;           /* SL_OK, SL_CHECK_FAILED if it differs, else its error */
	char message[SL_MESSAGE_BYTES];  /* the first difference, or the error */
	struct sl_spread whole, written; /* all batches: without, with output */
	uint32_t threads, lanes;         /* of whole and written */
	struct sl_spread stage[SL_STAGE_COUNT], transfer; /* of a batch; transfer: device to host */
	struct sl_spread all;                           /* sum of stages and transfer, per batch */
	uint64_t bytes[SL_STAGE_COUNT], transfer_bytes; /* minimum traffic per batch */
};

struct sl_comparison {
	struct sl_config config;
	struct sl_choices choices;
	struct sl_plan *plan;    /* of the configuration itself; has no workspace */
	const char *const *argv; /* the command line, ends with NULL; may be NULL */
	char date[32];           /* start, "2026-01-31T12:00:00Z" */
	uint64_t particles;      /* compared particles: the first of `configured` */
	uint64_t configured;     /* particles of the configuration */
	uint32_t batch;
	uint64_t n_batches;
	double host_copy, device_copy; /* GB/s read plus written; 0: not measured */
	bool ended;                    /* every case was tried */
	size_t n;
	struct sl_comparison_case cases[SL_CASES_MAX];
};

#endif
