/*
 * report.h - results of a run: fate tallies, checks against expected values, and run.json.
 *
 * Fractions are of all particles. Their standard error is that of a binomial count, and beside it
 * the one estimated from the scatter of the batches (statistics.h), which would show it if batches
 * were not independent. Where particles differ in weight (implicit capture), the fractions of
 * weight are the answer, and their scatter is what is known of their error. Weights of lists are of
 * any size: fractions are of particles there, and sums of weights stand beside them.
 *
 * The figure of merit of a fate is 1 / (R^2 T): R its relative error over batches, T the seconds of
 * computing, summed over threads (on a device: over batches in flight), of all stages before
 * compression. Where earlier sessions committed batches too, T is this session's, in proportion to
 * the particles. It stands in run.json alone, as T is measured and no two runs have the same.
 */
#ifndef SL_PIPELINE_REPORT_REPORT_H
#define SL_PIPELINE_REPORT_REPORT_H

#include <stdio.h>

#include "pipeline/text/json.h"
#include "pipeline/run/run.h"

struct sl_fate_result {
	uint64_t count;
	uint64_t weight; /* in steps, modulo 2^64; fraction of weight is in weight_fraction */
	double fraction; /* count / particles */
	double weight_fraction;        /* the same where all weights are 1, and of lists */
	double binomial_error;         /* sqrt(p (1 - p) / N), of the count */
	struct sl_precision precision; /* of the weight, over batches */
};

struct sl_results {
	uint64_t particles, batches, survivors, bytes;
	uint64_t steps, collisions;
	struct sl_fate_result fate[SL_FATE_COUNT];
};

/* Adds up the manifest; counts: fractions are of particles, and not of weight. */
void sl_results_make(const struct sl_manifest *m, bool counts, struct sl_results *r);

/* sl_fractions_count_particles(): true for lists, whose weights have any size, so fractions count particles. */
bool sl_fractions_count_particles(const struct sl_plan *plan);
double sl_sum_of_weights(const struct sl_plan *plan, const struct sl_results *r, sl_fate_set fates);

/*
 * A published value is met when |fraction - expected| <= sigma * sqrt(p (1 - p) / N), p the
 * expected one. Where particles differ in weight, that is asked of the fraction of weight, and it
 * must be within sigma standard errors as batches tell them, too; the deviation is the larger of
 * the two then, Student's turned into a normal one that is as improbable. deviation may be NULL.
 */
bool sl_check_met(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate,
	double *deviation);

/* True if particles differ in weight, so that the results are fractions of weight. */
bool sl_is_weighted(const struct sl_plan *plan);

/*
 * The standard error of a fraction: of weight, by batches; of counts, or where there is one batch,
 * the binomial one, which weights up to 1 do not exceed.
 */
double sl_fate_error(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate);

/* SL_CHECK_FAILED if a check of the configuration is not met; the message names the first. */
enum sl_status sl_checks(const struct sl_plan *plan, const struct sl_results *r);

/*
 * Commits run.json in dir. state: "running", "stopped", "done". session may be NULL (a run that
 * begins).
 */
enum sl_status sl_report_commit(const struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *m, const struct sl_session *session, const char *state);

/* run.json as text, to be freed with sl_memory_give(SL_HOST). */
enum sl_status sl_report_text(const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, const char *state, char **text, size_t *bytes);

/* The member "machine" of run.json: what computes, with how many threads and slots. */
void sl_report_machine(struct sl_json *j, const struct sl_plan *plan);

#endif
