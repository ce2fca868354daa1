/*
 * statistics.h - how well batches know the fraction of a fate, and the precision that ends a run.
 *
 * Each batch has its own fraction of a fate (of the weight of all particles: where that is 1 each,
 * of their number, to the bit; and of their number in a model that is read, whose weights are of
 * any size), and how these scatter tells the error of the fraction of all. A batch counts as its
 * particles do: the mean is the fraction of all particles, and with n_i particles and fractions x_i
 * in k batches, N particles in all,
 *
 *	mean  = sum n_i x_i / N
 *	error = sqrt(sum n_i (x_i - mean)^2 / ((k - 1) N))
 *
 * For batches of one size this is their plain mean, and their standard deviation over sqrt(k). Only
 * the last batch of a run is ever smaller: counted like the others, one of few particles would be
 * the most of the error.
 *
 * Batches are taken in order of number, by one piece of code: so what a goal makes of them depends
 * on configuration and seed alone, and a run that is gone on with comes to the same.
 */
#ifndef SL_PIPELINE_RESULTS_STATISTICS_H
#define SL_PIPELINE_RESULTS_STATISTICS_H

#include <stdbool.h>

#include "pipeline/results/manifest.h"

/* Of one fate, over the batches so far. Zeroed, there are none. */
struct sl_precision {
	uint64_t batches, particles;
	double weight;  /* of the particles of that fate */
	double squares; /* sum n_i (x_i - mean)^2 */
};

/* Takes in one more batch, of that tally and so many particles; counts: fractions are of these. */
void sl_precision_add(struct sl_precision *p, const struct sl_tally *t, enum sl_fate fate,
	uint64_t particles, bool counts);

/* The same of anything that is summed over particles: weight is its sum over those of the batch. */
void sl_precision_take(struct sl_precision *p, double weight, uint64_t particles);

/* Of the mean; NaN for fewer than two batches. Over the mean; NaN for a mean of 0 too. */
double sl_precision_error(const struct sl_precision *p);
double sl_precision_relative(const struct sl_precision *p);

/* stop: a run ends behind the first batch at which the relative error of a fate is small enough. */
struct sl_stop_rule {
	enum sl_fate fate;
	double below; /* 0: there is no goal, all batches are run */
	uint64_t min_batches;
	bool counts; /* fractions are of particles, not of weight */
};

enum { SL_STOP_RULE_BYTES = 96 };

/* "rel_error(reflected) < 0.001". */
const char *sl_stop_rule_text(const struct sl_stop_rule *g, char text[SL_STOP_RULE_BYTES]);

/* Is it met by these batches, of its fate? */
bool sl_stop_rule_met(const struct sl_stop_rule *g, const struct sl_precision *p);

/* How a run stands to its goal by its committed batches, as far as there is no gap in them. */
struct sl_standing {
	bool met;
	uint64_t batches;      /* that the run consists of: all, unless the goal is met before */
	double relative_error; /* where it was met, else of those there are */
};

/* n_batches: of the run, when the goal is never met. */
struct sl_standing sl_stop_rule_standing(
	const struct sl_stop_rule *g, uint64_t n_batches, const struct sl_manifest *m);

#endif
