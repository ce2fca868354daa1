/*
 * compare.h - runs one configuration with every backend, checks that results agree, and times it.
 *
 * Input: a resolved configuration. Output: struct sl_comparison.
 *
 * A case is a choice of backends and of a schedule. The host backends come first; the first case
 * (cpu, cpu, cpu) is the reference. On the device follow, in staged mode, all backends of one name
 * together and each primitive varied alone, and in fused mode every sort. For models with several
 * steps, host and device also run the schedules of rounds: no compaction, compaction every round,
 * compaction when half of the particles are dead, and sorting every fourth round. Every batch of
 * every case must have the fate counts, histograms, survivors and digests of the reference.
 *
 * Each case runs the whole configuration and writes nothing. sluice-bench measures stages and
 * backends.
 *
 * stop.when is ignored: all cases must do the same work.
 *
 * A case that fails is recorded and the next case runs: it may be the only one that needs that much
 * memory. A failure of the reference or a signal ends the comparison.
 */
#ifndef SL_PIPELINE_COMPARE_COMPARE_H
#define SL_PIPELINE_COMPARE_COMPARE_H

#include "pipeline/print/result.h"
#include "pipeline/resolve/execution/execution.h"
#include "pipeline/run/run.h"
#include "primitives/emulator/access.h"

/* --- cases ------------------------------------------------------------------------------------ */

enum { SL_CASES_MAX = 88 };

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

	/* Results. */
	enum sl_answer answer;
	enum sl_status status;          /* SL_OK, SL_CHECK_FAILED if it differs, else its error */
	char message[SL_MESSAGE_BYTES]; /* the first difference, or the error */
	double seconds; /* of all batches, without output; 0 on the emulated device, which is not timed */
	uint32_t threads, device_slots;
	struct sl_access_counts accesses; /* of all batches on the emulated device */
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
	bool ended; /* every case was tried */
	size_t n;
	struct sl_comparison_case cases[SL_CASES_MAX];
};

/*
 * Sets c->cases and c->n from c->choices. If the configuration computes on the CPU, there are only
 * host cases; otherwise device cases follow.
 */
void sl_cases_choose(struct sl_comparison *c);

/*
 * Does the case run on the emulated device? Then its memory accesses are counted, and it has no
 * times.
 */
bool sl_case_is_emulated(const struct sl_comparison_case *entry);

/*
 * Plans a case and provides its workspace: for all batches, or for the first alone with one thread
 * and one device pipeline. The caller closes *w and frees *plan, also after a failure.
 */
enum sl_status sl_case_plan(const struct sl_comparison *c, const struct sl_comparison_case *entry,
	bool first_batch, struct sl_plan **plan, struct sl_workspace **w);

/* "host" or "device". */
const char *sl_case_space(const struct sl_comparison_case *entry);

/*
 * The names of the choices of a case (sl_message_part()). Backends: "naive:block=128"; "own" for a
 * scan inside compact and sort, "-" for none, "fused" for the compact of fused mode. Schedule:
 * "history", or for rounds their steps ("16 steps").
 */
struct sl_case_names {
	const char *scan, *compact, *sort, *schedule;
};
struct sl_case_names sl_case_names(const struct sl_comparison_case *entry);

/* "device, scan naive, compact naive, sort shared" (sl_message_part()). */
const char *sl_case_text(const struct sl_comparison_case *entry);

/* --- reference -------------------------------------------------------------------------------- */

/*
 * Keeps the results of the first case per batch, and compares other cases with them.
 *
 * For each batch it keeps the tally, the checksum of the histograms, the number of survivors and
 * their digests. If a batch differs, the reference batch is computed again to find the first
 * difference.
 */

struct sl_reference {
	struct sl_plan *plan;             /* of the first case, for one batch at a time */
	struct sl_workspace *w;           /* of plan */
	struct sl_recipe recipe;          /* of the plan, but with all batches of the comparison */
	struct sl_manifest_line *line;    /* one per batch */
	bool recorded;                    /* the lines are set */
	struct sl_comparison_case *entry; /* the case that runs */
};

/* Plans the first case and allocates the lines. Call sl_reference_close(), also after a failure. */
enum sl_status sl_reference_open(const struct sl_comparison *c, struct sl_reference *r);
void sl_reference_close(struct sl_reference *r);

/*
 * First case: records the batch as reference. Later cases: compares the batch, and on a difference
 * sets the case's answer, status and message. Only the first difference of a case is described.
 */
void sl_reference_check(struct sl_reference *r, const struct sl_batch *b);

/* --- compare ---------------------------------------------------------------------------------- */

/*
 * If run.device is auto and no GPU can be used, sets run.device to emulated and reason to the error
 * of the GPU; else reason to "".
 */
void sl_compare_choose_device(struct sl_config *config, char reason[SL_MESSAGE_BYTES]);

/*
 * Plans the comparison of a resolved configuration. On the emulated device it takes at most the
 * first SL_EMULATED_PARTICLES particles unless all is true. SL_USAGE if primitives.deflate names a
 * device backend. The caller frees c->plan by sl_plan_free(), also after
 * a failure.
 */
enum sl_status sl_compare_plan(const struct sl_config *config, const struct sl_choices *choices,
	bool all, struct sl_comparison *c);

/* Called before case `number` (from 0) runs, for progress output. */
typedef void sl_case_begins(const struct sl_comparison *c, size_t number);

/*
 * Runs all cases of c. The caller sets stop and cancel_after in *control; the other members are set
 * here. begins may be NULL. Returns SL_CHECK_FAILED if a case differs, else the status of the first
 * case that failed, else SL_OK. c->ended is true if every case was tried: results can be printed.
 */
enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_case_begins *begins);

extern const struct sl_line sl_compare_text[], sl_compare_csv[];

/* lines: one of these lists; NULL: JSON. */
enum sl_status sl_compare_print(
	const struct sl_comparison *c, const struct sl_line *lines, FILE *out);

#endif
