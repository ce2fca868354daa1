/*
 * statistics.h - standard errors from the scatter of the batches, and the rule that ends a run.
 *
 * x_i is the fraction of a fate in batch i: the weight of its particles per particle. With weights of
 * 1 this is the fraction of the number, to the bit; for models that read particles, whose weights can
 * have any size, the number is used instead. Batches are weighted by their numbers of particles n_i;
 * with k batches and N particles in total,
 *
 *	mean  = sum n_i x_i / N
 *	error = sqrt(sum n_i (x_i - mean)^2 / ((k - 1) N))
 *
 * For batches of one size this is the mean and the standard deviation divided by sqrt(k). Only the last
 * batch of a run is smaller; without the weights n_i, a last batch of few particles would dominate
 * the error.
 *
 * Batches are added in batch order by the same code everywhere, so the result depends only on
 * configuration and seed, and a resumed run ends at the same batch.
 */
#ifndef SL_PIPELINE_RESULTS_STATISTICS_H
#define SL_PIPELINE_RESULTS_STATISTICS_H

#include <stdbool.h>

#include "pipeline/results/manifest.h"

/* Accumulated over the batches so far; all zero: no batch. */
struct sl_precision {
	uint64_t batches, particles;
	double weight;  /* sum over the particles of the fate */
	double squares; /* sum n_i (x_i - mean)^2 */
};

/* Adds a batch with its tally and number of particles. counts: use counts instead of weights. */
void sl_precision_add(struct sl_precision *p, const struct sl_tally *t, enum sl_fate fate,
	uint64_t particles, bool counts);

/* Adds a batch for any quantity summed over particles; weight is its sum over the batch. */
void sl_precision_take(struct sl_precision *p, double weight, uint64_t particles);

/* Standard error of the mean; NaN for fewer than two batches. */
double sl_precision_error(const struct sl_precision *p);

/* Relative standard error; NaN also if the mean is 0. */
double sl_precision_relative(const struct sl_precision *p);

/* The run ends after the first batch where the relative error of the fate is below a bound. */
struct sl_stop_rule {
	enum sl_fate fate;
	double below; /* the bound; 0: no rule, all batches are computed */
	uint64_t min_batches;
	bool counts; /* use counts instead of weights */
};

enum { SL_STOP_RULE_BYTES = 96 };

/* Prints the rule as "rel_error(reflected) < 0.001". Returns text. */
const char *sl_stop_rule_text(const struct sl_stop_rule *rule, char text[SL_STOP_RULE_BYTES]);

/* Do these batches, accumulated for the fate of the rule, meet it? */
bool sl_stop_rule_met(const struct sl_stop_rule *rule, const struct sl_precision *p);

/* The state of the rule after the committed batches, up to the first that is missing. */
struct sl_stop_state {
	bool met;
	uint64_t batches; /* of the whole run: all, or those up to the batch that met the rule */
	double relative_error; /* at the batch that met the rule, else after the last batch */
};

/* n_batches: the batches of the run if the rule is never met. */
struct sl_stop_state sl_stop_rule_state(
	const struct sl_stop_rule *rule, uint64_t n_batches, const struct sl_manifest *m);

#endif
