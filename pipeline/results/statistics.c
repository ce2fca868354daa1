/*
 * statistics.c - accumulates mean and scatter batch by batch, without a second pass.
 *
 * The update is that of Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for
 * computing sample variances, 1979. It is stable where a sum of squares minus a squared sum is not.
 */
#include "pipeline/results/statistics.h"

#include <math.h>
#include <stdio.h>

#include "pipeline/text/decimal_number.h"

/* Joins the a particles so far with the b particles of the batch. */
void sl_precision_take(struct sl_precision *p, double weight, uint64_t particles)
{
	double a = (double)p->particles, b = (double)particles;

	if (p->batches > 0) {
		/* difference of the two means; its square is weighted by the reduced count */
		double off = weight / b - p->weight / a;

		p->squares += off * off * (a * b / (a + b));
	}
	p->batches++;
	p->particles += particles;
	p->weight += weight;
}

void sl_precision_add(struct sl_precision *p, const struct sl_tally *t, enum sl_fate fate,
	uint64_t particles, bool counts)
{
	sl_precision_take(p,
		counts ? (double)t->count[fate]
		       : (double)sl_tally_weight(t, particles, (int)fate) * 0x1p-32,
		particles);
}

double sl_precision_error(const struct sl_precision *p)
{
	if (p->batches < 2)
		return (double)NAN;
	return sqrt(p->squares / ((double)(p->batches - 1) * (double)p->particles));
}

double sl_precision_relative(const struct sl_precision *p)
{
	if (!(p->weight > 0))
		return (double)NAN;
	return sl_precision_error(p) / (p->weight / (double)p->particles);
}

const char *sl_stop_rule_text(const struct sl_stop_rule *rule, char text[SL_STOP_RULE_BYTES])
{
	char below[32];

	sl_double_print(rule->below, below, sizeof(below));
	snprintf(text, SL_STOP_RULE_BYTES, "rel_error(%s) < %s", sl_fate_facts[rule->fate].name,
		below);
	return text;
}

bool sl_stop_rule_met(const struct sl_stop_rule *rule, const struct sl_precision *p)
{
	return p->batches >= rule->min_batches && sl_precision_relative(p) < rule->below;
}

struct sl_stop_state sl_stop_rule_state(
	const struct sl_stop_rule *rule, uint64_t n_batches, const struct sl_manifest *m)
{
	struct sl_precision p = {0};
	struct sl_stop_state state = {.batches = n_batches};

	/* stop at the first gap: a resumed run must meet the rule at the same batch */
	for (size_t i = 0; i < m->n && m->line[i].batch == i && !state.met; i++) {
		sl_precision_add(
			&p, &m->line[i].tally, rule->fate, m->line[i].generated, rule->counts);
		state.met = sl_stop_rule_met(rule, &p);
	}
	if (state.met)
		state.batches = p.batches;
	state.relative_error = sl_precision_relative(&p);
	return state;
}
