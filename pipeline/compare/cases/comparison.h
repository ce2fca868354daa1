/* comparison.h - the cases of a comparison and their results; compare.h describes the method. */
#ifndef SL_PIPELINE_COMPARE_CASES_COMPARISON_H
#define SL_PIPELINE_COMPARE_CASES_COMPARISON_H

#include "pipeline/compare/cases/spread.h"
#include "pipeline/run/run.h"
#include "primitives/emulator/access.h"

enum { SL_CASES_MAX = 88 };

/* The emulated device runs this many particles in a few seconds; --full takes all particles. */
enum { SL_EMULATED_PARTICLES = 20000 };

/*
 * Indices of the times of one batch: each stage by its number, the transfer of survivors from the
 * device to the host, and the sum of all of them.
 */
enum { SL_TIME_TRANSFER = SL_STAGE_COUNT, SL_TIME_SUM, SL_TIMES };

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
	enum sl_status status;          /* SL_OK, SL_CHECK_FAILED if it differs, else its error */
	char message[SL_MESSAGE_BYTES]; /* the first difference, or the error */
	struct sl_spread without_output, with_output; /* of all batches */
	uint32_t threads, device_slots;               /* of the runs of all batches */
	struct sl_spread time[SL_TIMES]; /* of one batch; n = 0 if a stage does not run */
	uint64_t bytes[SL_TIME_SUM];     /* minimum memory traffic per batch */
	/* Of all batches on the emulated device, where nothing is timed. */
	struct sl_access_counts accesses;
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
