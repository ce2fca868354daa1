/*
 * statistics.c - sums, scatter and errors, batch by batch, without a second pass.
 *
 * The update of the scatter is that of Chan, Golub and LeVeque, Updating formulae and a pairwise
 * algorithm for computing sample variances, 1979. It is stable where a sum of squares minus a
 * squared sum is not.
 */
#include "pipeline/results/results.h"

#include <math.h>
#include <stdio.h>

#include "pipeline/text/text.h"

/* The compiler calls a function for 128 bits, which most sums do not need. */
static inline double number_of(sl_sum sum)
{
	return sum == (int64_t)sum ? (double)(int64_t)sum : (double)sum;
}

/*
 * Joins the a particles so far with the b particles of the batch. Many counters of a large volume
 * are 0 in all batches.
 */
void sl_precision_add(
	struct sl_precision *p, struct sl_batches before, uint64_t particles, sl_sum sum)
{
	double a = (double)before.particles, b = (double)particles;

	if (before.n > 0 && (sum != 0 || p->sum != 0)) {
		/* difference of the two means; its square is weighted by the reduced count */
		double off = number_of(sum) / b - number_of(p->sum) / a;

		p->scatter += off * off * (a * b / (a + b));
	}
	p->sum += sum;
}

double sl_precision_error(const struct sl_precision *p, struct sl_batches all)
{
	if (all.n < 2)
		return (double)NAN;
	return sqrt(p->scatter / ((double)(all.n - 1) * (double)all.particles));
}

double sl_error_of_mean(double mean, double mean_square, uint64_t particles)
{
	/* counts: without the difference, which loses digits near 1 */
	double variance = mean_square == mean ? mean * (1 - mean) : mean_square - mean * mean;

	if (mean_square == 0 && mean != 0)
		return (double)NAN;
	return sqrt((variance > 0 ? variance : 0) / (double)particles);
}

struct sl_fate_sums sl_fate_sums_of(
	const struct sl_tally *t, enum sl_fate fate, uint64_t particles, bool counts)
{
	if (counts)
		return (struct sl_fate_sums){t->count[fate], t->count[fate]};
	return (struct sl_fate_sums){
		sl_tally_weight(t, particles, (int)fate), sl_tally_square(t, particles, (int)fate)};
}

struct sl_fraction sl_fraction_of(const struct sl_fate_sums *s, uint64_t particles, bool counts)
{
	const double unit = counts ? 1 : 0x1p-32, n = (double)particles;
	double mean = (double)s->sum * unit / n;

	return (struct sl_fraction){
		mean, sl_error_of_mean(mean, (double)s->square * unit / n, particles)};
}

double sl_relative_error(struct sl_fraction f)
{
	return f.value > 0 ? f.error / f.value : (double)NAN;
}

const char *sl_stop_rule_text(const struct sl_stop_rule *rule)
{
	return sl_said("%s(%s) < %s", rule->likelihood ? "sd" : "rel_error",
		rule->likelihood ? "log_likelihood" : sl_fate_facts[rule->fate].name,
		sl_double_text(rule->below));
}

static double error_of(const struct sl_stop_rule *rule, const struct sl_stop_sums *s)
{
	if (rule->likelihood)
		return sl_filter_sum_error(&s->likelihood, s->batches.n);
	return sl_relative_error(sl_fraction_of(&s->of_fate, s->batches.particles, rule->counts));
}

bool sl_stop_rule_add(const struct sl_stop_rule *rule, struct sl_stop_sums *s,
	const struct sl_tally *t, uint64_t particles)
{
	struct sl_fate_sums batch = sl_fate_sums_of(t, rule->fate, particles, rule->counts);

	s->of_fate.sum += batch.sum;
	s->of_fate.square += batch.square;
	if (rule->likelihood)
		sl_filter_sum_add(&s->likelihood, s->batches.n, sl_log_likelihood_of(t));
	s->batches.n++;
	s->batches.particles += particles;
	return s->batches.n >= rule->min_batches && error_of(rule, s) < rule->below;
}

struct sl_stop_state sl_stop_rule_state(
	const struct sl_stop_rule *rule, uint64_t n_batches, const struct sl_manifest *m)
{
	struct sl_stop_sums sums = {.batches = {0}};
	struct sl_stop_state state = {.batches = n_batches};

	/* stop at the first gap: a resumed run must meet the rule at the same batch */
	for (size_t i = 0; i < m->n && m->line[i].batch == i && !state.met; i++)
		state.met = sl_stop_rule_add(rule, &sums, &m->line[i].tally, m->line[i].generated);
	if (state.met)
		state.batches = sums.batches.n;
	state.relative_error = error_of(rule, &sums);
	return state;
}
