/*
 * statistics.h - exact sums over batches, standard errors of means, and the rule that ends a run.
 *
 * The mean of a quantity per particle and its standard error follow from two sums over all N
 * particles, S of the quantity and Q of its square:
 *
 *	mean  = S / N
 *	error = sqrt((Q / N - mean^2) / N)
 *
 * For counts Q = S, and this is the binomial error. Both sums are integers, so neither depends on
 * the batches, and one batch is enough.
 *
 * A score has many terms per particle, of which no square is known. Its error is estimated from the
 * scatter of the batches: with k batches of n_i particles, and the mean x_i in batch i,
 *
 *	error over batches = sqrt(sum n_i (x_i - mean)^2 / ((k - 1) N))
 *
 * For batches of one size this is the standard deviation divided by sqrt(k). Only the last batch of
 * a run is smaller; without the weights n_i, a last batch of few particles would dominate the
 * error. For fates, run.json has this error too: it would show batches that are not independent.
 *
 * Batches are added in batch order by the same code everywhere, so the result depends only on
 * configuration and seed, and a resumed run ends at the same batch.
 */
#ifndef SL_PIPELINE_RESULTS_STATISTICS_H
#define SL_PIPELINE_RESULTS_STATISTICS_H

#include <stdbool.h>

#include "pipeline/results/manifest.h"

/* A sum of counters of batches. They have 64 bits, which a long run exceeds. */
__extension__ typedef __int128 sl_sum __attribute__((aligned(8)));

/* The batches that sums contain. */
struct sl_batches {
	uint64_t n, particles;
};

/* The standard error of a mean, from the mean of the squares; NaN if these were not summed. */
double sl_error_of_mean(double mean, double mean_square, uint64_t particles);

/* A sum in any unit, and its scatter over the batches; all zero: no batch. */
struct sl_precision {
	sl_sum sum;
	double scatter; /* sum n_i (x_i - mean)^2 */
};

/* Adds the sum of the next batch, which has so many particles, to that of the batches before it. */
void sl_precision_add(
	struct sl_precision *p, struct sl_batches before, uint64_t particles, sl_sum sum);

/* The error over batches, in the unit of the sum; NaN for fewer than two of them. */
double sl_precision_error(const struct sl_precision *p, struct sl_batches all);

/* The number of the particles of a fate, or their weight and its square, in 2^-32. */
struct sl_fate_sums {
	sl_sum sum, square;
};

/* Those of a batch. counts: of the number. */
struct sl_fate_sums sl_fate_sums_of(
	const struct sl_tally *t, enum sl_fate fate, uint64_t particles, bool counts);

/* The fraction of all particles, or of their weight, and its standard error. */
struct sl_fraction {
	double value, error;
};
struct sl_fraction sl_fraction_of(const struct sl_fate_sums *s, uint64_t particles, bool counts);

/* The relative error; NaN if the fraction is 0. */
double sl_relative_error(struct sl_fraction f);

/* The run ends after the first batch where the relative error of the fate is below a bound. */
struct sl_stop_rule {
	enum sl_fate fate;
	double below; /* the bound; 0: no rule, all batches are computed */
	uint64_t min_batches;
	bool counts; /* of particles instead of weights; set by the plan, also without a rule */
};

enum { SL_STOP_RULE_BYTES = 96 };

/* Prints the rule as "rel_error(reflected) < 0.001". Returns text. */
const char *sl_stop_rule_text(const struct sl_stop_rule *rule, char text[SL_STOP_RULE_BYTES]);

/* The sums that decide; all zero: no batch. */
struct sl_stop_sums {
	struct sl_batches batches;
	struct sl_fate_sums of_fate;
};

/* Adds the next batch. Returns whether the rule is met with it. */
bool sl_stop_rule_add(const struct sl_stop_rule *rule, struct sl_stop_sums *s,
	const struct sl_tally *t, uint64_t particles);

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
