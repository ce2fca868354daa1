/*
 * run_results.h - results of a run: fate tallies, their errors, and checks against expected values.
 *
 * Fractions refer to all particles. Each has two standard errors: the binomial one, and one estimated
 * from the scatter of the batches (statistics.h). The second would show batches that are not
 * independent. With implicit capture particles differ in weight; the results are then fractions of
 * weight, and only the scatter gives their error. Weights of lists have any size: their fractions
 * count particles, and sums of weights are reported in addition.
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
	uint64_t weight; /* in steps, modulo 2^64; fraction of weight is in weight_fraction */
	double fraction; /* count / particles */
	double weight_fraction;        /* the same where all weights are 1, and of lists */
	double binomial_error;         /* sqrt(p (1 - p) / N), of the count */
	struct sl_precision precision; /* of the weight, over batches */
};

/* The sums over all committed batches. */
struct sl_results {
	uint64_t particles, batches, survivors;
	uint64_t bytes; /* of the files of survivors and of histograms */
	uint64_t steps, collisions;
	struct sl_fate_result fate[SL_FATE_COUNT];
};

/*
 * Sums the lines of the manifest. counts: weights of any size, so only particles are counted.
 * Fractions are set only if the manifest has at least one batch.
 */
void sl_results_make(const struct sl_manifest *m, bool counts, struct sl_results *r);

/* True for lists: their weights have any size, so fractions count particles instead. */
bool sl_fractions_count_particles(const struct sl_plan *plan);

/* The sum of weights of the particles with one of the fates, in the unit of the model. */
double sl_sum_of_weights(const struct sl_plan *plan, const struct sl_results *r, sl_fate_set fates);

/*
 * Particles that ended by transport.max_steps: their histories are truncated, so fates and tallies
 * lack their ends. A warning for people, and the array "warnings", which is empty if there are none.
 */
struct sl_truncated {
	uint64_t count, particles; /* of the committed batches */
	uint64_t max_steps;        /* transport.max_steps */
};
struct sl_truncated sl_results_truncated(const struct sl_plan *plan, const struct sl_results *r);
void sl_truncated_print(const struct sl_truncated *t, FILE *out);
void sl_truncated_json(const struct sl_truncated *t, struct sl_json *j);

/*
 * A published value is met when |fraction - expected| <= sigma * sqrt(p (1 - p) / N), p the
 * expected one. If particles differ in weight, the fraction is that of weight, and it must also be
 * within sigma standard errors estimated over batches. *deviation is then the larger of the two;
 * Student's deviate is converted to the normal one of equal probability.
 */
bool sl_check_met(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate,
	double *deviation);

/* True if particles differ in weight, so that the results are fractions of weight. */
bool sl_is_weighted(const struct sl_plan *plan);

/*
 * The standard error of a fraction. Fractions of weight use the scatter over batches. Counts, and
 * runs of one batch, use the binomial error, an upper bound for weights up to 1.
 */
double sl_fate_error(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate);

/* SL_CHECK_FAILED if a check of the configuration is not met; the message names the first. */
enum sl_status sl_checks(const struct sl_plan *plan, const struct sl_results *r);

#endif
