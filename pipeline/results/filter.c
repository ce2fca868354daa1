/*
 * filter.c - likelihoods of filters, and their steps, over all batches.
 *
 * The estimates of a batch follow from its integers by sl_filter_read_step(), the same everywhere.
 * They are added as doubles in the order of the batches, by the update of statistics.c.
 */
#include "pipeline/results/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "stages/rounds/resample.h"

void sl_filter_sum_add(struct sl_filter_sum *s, uint64_t before, double value)
{
	double off = value - s->mean;

	s->mean += off / (double)(before + 1);
	s->scatter = fma(off, value - s->mean, s->scatter);
}

double sl_filter_sum_error(const struct sl_filter_sum *s, uint64_t n)
{
	return n < 2 ? (double)NAN : sqrt(s->scatter / ((double)(n - 1) * (double)n));
}

double sl_log_likelihood_of(const struct sl_tally *t)
{
	return (double)t->log_likelihood * 0x1p-32;
}

struct sl_filter_likelihood sl_filter_likelihood_of(const struct sl_manifest *m)
{
	struct sl_filter_likelihood l = {.filters = m->n};
	double most = -HUGE_VAL, sum = 0;

	for (size_t i = 0; i < m->n; i++) {
		double value = sl_log_likelihood_of(&m->line[i].tally);

		sl_filter_sum_add(&l.sum, i, value);
		most = fmax(most, value);
	}
	for (size_t i = 0; i < m->n; i++)
		sum += sl_exp_double(sl_log_likelihood_of(&m->line[i].tally) - most);
	l.log_of_mean = most + sl_log_double(sum / (double)m->n);
	return l;
}

uint32_t sl_filter_quantities(const struct sl_recipe *r)
{
	return SL_FILTER_FACTS + (2 + r->resampling.n_quantiles) * r->resampling.n_moments;
}

const char *sl_filter_name(const struct sl_resampling *f, uint32_t column)
{
	static const char *const facts[] = {"log_likelihood", "sample_size", "resampled"};
	const char *const error = column % 2 ? "_error" : "";
	const uint32_t k = column / 2 - SL_FILTER_FACTS, q = k - 2 * f->n_moments;

	if (column / 2 < SL_FILTER_FACTS)
		return sl_said("%s%s", facts[column / 2], error);
	if (k < 2 * f->n_moments)
		return sl_said("%s_%s%s", k % 2 ? "variance" : "mean",
			sl_column_facts[f->moment[k / 2]].name, error);
	return sl_said("quantile_%s_%s%s", sl_double_text(f->quantile[q % f->n_quantiles]),
		sl_column_facts[f->moment[q / f->n_quantiles]].name, error);
}

/* Adds a batch to the sums of all steps; h->batches does not contain it yet. */
void sl_filter_add_batch(const struct sl_recipe *r, const uint64_t *sum, uint64_t particles,
	const struct sl_tally_sums *h)
{
	const struct sl_resampling *f = &r->resampling;
	const uint64_t *word = sl_filter_counters_of(r, (uint64_t *)(uintptr_t)sum);
	double before = 0, value[SL_FILTER_VALUES];
	struct sl_filter_sum *to = h->filter;

	for (uint32_t step = 0; step < f->steps; step++) {
		sl_filter_read_step(f, (uint32_t)particles, word, &before, value);
		for (uint32_t k = 0; k < sl_filter_quantities(r); k++)
			sl_filter_sum_add(to++, h->batches->n, value[k]);
		word += sl_filter_step_words(f->n_moments, f->n_quantiles);
	}
}

const double *sl_filter_steps(
	const struct sl_recipe *r, const struct sl_tally_sums *h, uint32_t column)
{
	const struct sl_filter_sum *s = h->filter + column / 2;

	for (uint32_t step = 0; step < r->resampling.steps; step++, s += sl_filter_quantities(r))
		h->row[step] = column % 2 ? sl_filter_sum_error(s, h->batches->n) : s->mean;
	return h->row;
}
