/*
 * run_results.h - results of a run: fate tallies, their errors, and checks against expected values.
 *
 * Fractions refer to all particles. With implicit capture particles differ in weight; the results
 * are then fractions of weight. The standard error of a fraction is binomial, or follows from the
 * squares of the weights (statistics.h); run.json, the summary, checks and stop rules use the same
 * one. Another error, estimated from the scatter of the batches, would show batches that are not
 * independent. Weights of lists have any size: their fractions count particles, and sums of weights
 * are reported in addition.
 *
 * The caller owns the manifest and the plan; nothing is allocated.
 */
#ifndef SL_PIPELINE_REPORT_TALLIES_RUN_RESULTS_H
#define SL_PIPELINE_REPORT_TALLIES_RUN_RESULTS_H

#include "pipeline/plan/plan.h"
#include "pipeline/results/manifest.h"
#include "pipeline/results/statistics.h"
#include "pipeline/text/json.h"

/* The particles with one fate, over all committed batches. */
struct sl_fate_result {
	uint64_t count;
	double fraction;            /* count / particles */
	struct sl_fate_sums weight; /* of lists: in steps of weight, and their squares */
	struct sl_fraction
		result; /* of the weight if particles differ in it; else, and of lists, of the count */
	struct sl_precision precision; /* of the same, over batches; in 2^-32 for weights */
};

/* The sums over all committed batches. */
struct sl_results {
	struct sl_batches all;
	uint64_t survivors;
	bool counts;    /* results are fractions of the count */
	uint64_t bytes; /* of the files of survivors and of histograms */
	uint64_t steps, collisions;
	struct sl_fate_result fate[SL_FATE_COUNT];
};

/*
 * Sums the lines of the manifest. counts: results are fractions of the count. Fractions are set
 * only if the manifest has at least one batch.
 */
void sl_results_make(const struct sl_manifest *m, bool counts, struct sl_results *r);

/* The same, with the counts or weights that the results of a run state. */
void sl_results_of(const struct sl_plan *plan, const struct sl_manifest *m, struct sl_results *r);

/* True for lists: their weights have any size, so fractions count particles instead. */
bool sl_fractions_count_particles(const struct sl_plan *plan);

/* The sum of weights of the particles with one of the fates, in the unit of the model. */
double sl_sum_of_weights(const struct sl_plan *plan, const struct sl_results *r, sl_fate_set fates);

/* The share that a fate of a list has of the sum of all weights, and its standard error. */
struct sl_fraction sl_share_of_weight(
	const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate);

/*
 * Particles that ended by transport.max_steps: their histories are truncated, so fates and tallies
 * lack their ends. The array "warnings" has a text about them, or is empty.
 */
struct sl_truncated {
	uint64_t count, particles; /* of the committed batches */
	uint64_t max_steps;        /* transport.max_steps */
};
struct sl_truncated sl_results_truncated(const struct sl_plan *plan, const struct sl_results *r);
void sl_truncated_json(const struct sl_truncated *t, struct sl_json *j);

/*
 * A published value is met when |fraction - expected| <= sigma standard errors. For counts, and
 * where no particle has the fate, this is sqrt(p (1 - p) / N), p the expected value.
 */
bool sl_check_met(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate,
	double *deviation);

/* SL_CHECK_FAILED if a check of the configuration is not met; the message names the first. */
enum sl_status sl_checks(const struct sl_plan *plan, const struct sl_results *r);

#endif
