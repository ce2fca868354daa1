/*
 * run_results.c - sums over batches, and their checks against expected values.
 *
 * All numbers are computed from the lines of the manifest. A resumed run therefore has the results of
 * the batches of all sessions, and an interrupted and resumed run has the same results as an
 * uninterrupted one.
 */
#include "pipeline/report/tallies/run_results.h"

#include <math.h>
#include <string.h>

/*
 * The standard error of a fraction of counts that is p. For weights from 0 to 1 it is an upper
 * bound, as their squares are no larger than they are.
 */
static double binomial_error(const struct sl_results *r, double p)
{
	return sqrt(p * (1 - p) / (double)r->particles);
}

bool sl_fractions_count_particles(const struct sl_plan *plan)
{
	return sl_models[plan->recipe.model]->read;
}

/*
 * Batches are added in the order of the manifest, which is that of their numbers. Only the sums for
 * the precision are floating-point numbers and depend on that order.
 */
void sl_results_make(const struct sl_manifest *m, bool counts, struct sl_results *r)
{
	memset(r, 0, sizeof(*r));
	r->batches = m->n;
	for (size_t i = 0; i < m->n; i++) {
		const struct sl_manifest_line *l = &m->line[i];

		r->particles += l->generated;
		r->survivors += l->survivors;
		r->bytes += l->file_bytes + l->bins_bytes + l->order_bytes;
		r->steps += l->tally.steps;
		r->collisions += l->tally.collisions;
		for (int f = 0; f < SL_FATE_COUNT; f++) {
			r->fate[f].count += l->tally.count[f];
			r->fate[f].weight += counts ? l->tally.weight[f]
			                            : sl_tally_weight(&l->tally, l->generated, f);
			sl_precision_add(&r->fate[f].precision, &l->tally, (enum sl_fate)f,
				l->generated, counts);
		}
	}
	for (int f = 0; m->n > 0 && f < SL_FATE_COUNT; f++) {
		struct sl_fate_result *fate = &r->fate[f];

		fate->fraction = (double)fate->count / (double)r->particles;
		fate->weight_fraction = fate->precision.weight / (double)r->particles;
		fate->binomial_error = binomial_error(r, fate->fraction);
	}
}

struct sl_truncated sl_results_truncated(const struct sl_plan *plan, const struct sl_results *r)
{
	return (struct sl_truncated){
		r->fate[SL_FATE_max_steps].count, r->particles, plan->config.transport.max_steps};
}

enum { WARNING_BYTES = 256 };

static const char *truncated_text(const struct sl_truncated *t, char text[WARNING_BYTES])
{
	snprintf(text, WARNING_BYTES,
		"%llu particle%s (%.3g %%) reached transport.max_steps = %llu and ended with fate "
		"max_steps: the results lack the rest of their histories; raise transport.max_steps",
		(unsigned long long)t->count, t->count == 1 ? "" : "s",
		100 * (double)t->count / (double)t->particles, (unsigned long long)t->max_steps);
	return text;
}

void sl_truncated_print(const struct sl_truncated *t, FILE *out)
{
	char text[WARNING_BYTES];

	if (t->count > 0)
		fprintf(out, "warning: %s\n", truncated_text(t, text));
}

void sl_truncated_json(const struct sl_truncated *t, struct sl_json *j)
{
	char text[WARNING_BYTES];

	sl_json_array(j, "warnings");
	if (t->count > 0)
		sl_json_text(j, NULL, truncated_text(t, text));
	sl_json_close(j);
}

bool sl_is_weighted(const struct sl_plan *plan)
{
	return sl_sums_weights(&plan->recipe) && !sl_fractions_count_particles(plan);
}

/* One batch has no scatter, so its error can only be estimated from the counts. */
double sl_fate_error(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate)
{
	const struct sl_fate_result *f = &r->fate[fate];

	return sl_is_weighted(plan) && r->batches > 1 ? sl_precision_error(&f->precision)
	                                              : binomial_error(r, f->weight_fraction);
}

/*
 * The deviate of the normal distribution that is as improbable as t of Student's with that many
 * degrees of freedom: instead of 4 it gives 3.99 for 10 of them, 3.95 for 5, 3.5 for one. (Wallace,
 * Ann. Math. Statist. 30 (1959) 1121.)
 */
static double normal_of_student(double t, double freedom)
{
	return copysign(
		(8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom)), t);
}

/*
 * The deviation from the expected value in standard errors: the larger of the binomial deviation
 * and the one estimated over batches. Without weights, or with one batch, only the first exists.
 */
static double deviation_of(
	const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate)
{
	double expected = plan->config.check.fate[fate];
	double off = r->fate[fate].weight_fraction - expected, least, t;

	if (!(fabs(off) > 0))
		return 0;
	least = off / binomial_error(r, expected);
	if (!sl_is_weighted(plan) || r->batches < 2)
		return least;
	t = normal_of_student(
		off / sl_precision_error(&r->fate[fate].precision), (double)(r->batches - 1));
	return fabs(t) > fabs(least) ? t : least;
}

bool sl_check_met(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate,
	double *deviation)
{
	*deviation = deviation_of(plan, r, fate);
	return fabs(*deviation) <= plan->config.check.sigma;
}

/* Fates are checked in their order in fates.def, so the message does not depend on the machine. */
enum sl_status sl_checks(const struct sl_plan *plan, const struct sl_results *r)
{
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		double deviation;

		if (isnan(plan->config.check.fate[f]) ||
			sl_check_met(plan, r, (enum sl_fate)f, &deviation))
			continue;
		return sl_fail(SL_CHECK_FAILED,
			"check.%s: %.7g was expected and %.7g found, a deviation of %+.1f sigma (the "
			"limit is %.3g); correct the expected value if it belongs to another "
			"configuration, else report an error of the program",
			sl_fate_facts[f].name, plan->config.check.fate[f],
			r->fate[f].weight_fraction, deviation, plan->config.check.sigma);
	}
	return SL_OK;
}

/* Sums of weights are fixed-point numbers modulo 2^64, so adding fates before converting is exact. */
double sl_sum_of_weights(const struct sl_plan *plan, const struct sl_results *r, sl_fate_set fates)
{
	uint64_t sum = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		sum += SL_HAS(fates, f) ? r->fate[f].weight : 0;
	return sl_weight_of(&plan->recipe, sum);
}
