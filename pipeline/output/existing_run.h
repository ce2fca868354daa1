/*
 * existing_run.h - reads the run that a directory already holds, from its run.json.
 *
 * --resume compares that run with the plan, --force removes its files by its own name and format,
 * and verify makes its plan again.
 */
#ifndef SL_PIPELINE_OUTPUT_EXISTING_RUN_H
#define SL_PIPELINE_OUTPUT_EXISTING_RUN_H

#include "pipeline/config/config.h"
#include "pipeline/plan/plan.h"
#include "primitives/files/dirs.h"

struct sl_yaml;

struct sl_existing_run {
	struct sl_yaml *tree;           /* owns the texts below */
	const char *config;             /* the configuration, as far as it determines the results */
	const char *name;               /* of the run; NULL if missing, or no name of a run */
	const char *state;              /* "done", "stopped" or "running"; NULL if missing */
	const struct sl_format *format; /* NULL if this program does not support it */
	bool image;                     /* the run makes an image */
	bool joined;                    /* the run makes a joined file */
	struct sl_part part;            /* of = 0: the whole run */
	const char *deflate;            /* the backend that compressed its files */
	uint64_t rules_version;
	uint64_t particles; /* committed when run.json was written */
	uint64_t
		session_particles; /* computed by the last session, and its time in seconds; 0: it */
	double session_seconds;    /* has not ended */
};

/*
 * Reads run.json in dir. SL_BAD_INPUT if no run can have written it. After success the caller frees
 * f with sl_existing_run_free().
 */
enum sl_status sl_existing_run_read(const struct sl_dir *dir, struct sl_existing_run *f);
void sl_existing_run_free(struct sl_existing_run *f);

/* The size of a run as its stored configuration has it. */
struct sl_existing_sizes {
	uint64_t particles, batch; /* 0 if it is not stored */
	uint64_t n_batches;        /* of the whole run, at least 1 */
	bool stops;                /* it has a stop rule, so particles is an upper limit */
	uint64_t max_steps;        /* transport.max_steps */
};

/* Reads the sizes. Fails only for lack of memory. */
enum sl_status sl_existing_run_sizes(
	const struct sl_existing_run *f, struct sl_existing_sizes *sizes);

/*
 * Makes the plan of the run again, from the stored configuration, in which n_sets settings (at most
 * SL_EXISTING_RUN_SETS_MAX) replace values. f->deflate compresses, if it is a host backend of this
 * build: a joined file that is written in another order has its bytes. The caller frees *plan, also
 * after a failure.
 */
enum { SL_EXISTING_RUN_SETS_MAX = SL_SETS_MAX + 2 };
enum sl_status sl_existing_run_plan(const struct sl_existing_run *f, const char *const *set,
	size_t n_sets, struct sl_plan **plan);

/*
 * Compares two stored configurations: both are written by the same code, so equal settings give
 * equal texts. If they differ, sets of_a and of_b to the text of each around the first difference.
 */
enum { SL_DIFFERENCE_BYTES = 82 };
bool sl_existing_run_differs(const char *a, const char *b, char of_a[SL_DIFFERENCE_BYTES],
	char of_b[SL_DIFFERENCE_BYTES]);

/*
 * SL_OK if resuming the run in dir with the plan gives the same bytes as an uninterrupted run. The
 * plan may have more particles, which *how says. Otherwise SL_OUTPUT_IN_USE, and the message states
 * the first difference.
 */
struct sl_resumption {
	bool extended;      /* the plan has more particles than the run in dir */
	uint64_t n_batches; /* of that run, or of the whole run if it is a part */
	bool joined;        /* that run makes a joined file, with or without the plan */
};
enum sl_status sl_existing_run_check(
	const struct sl_dir *dir, const struct sl_plan *plan, struct sl_resumption *how);

#endif
