/*
 * run_results.c - sums over batches, and their checks against expected values.
 *
 * All numbers are computed from the lines of the manifest. A resumed run therefore has the results
 * of the batches of all sessions, and an interrupted and resumed run has the same results as an
 * uninterrupted one.
 */
#include "pipeline/report/tallies/tallies.h"

#include <math.h>
#include <string.h>

/* Adds a batch to the sums of a fate. */
static void add_fate(struct sl_results *r, const struct sl_manifest_line *l, enum sl_fate f)
{
	struct sl_fate_result *fate = &r->fate[f];
	struct sl_fate_sums sums = sl_fate_sums_of(&l->tally, f, l->generated, r->counts);

	fate->count += l->tally.count[f];
	sl_precision_add(&fate->precision, r->all, l->generated, sums.sum);
	if (r->counts) /* of a list: they can be negative */
		sums = (struct sl_fate_sums){(int64_t)l->tally.weight[f], l->tally.square[f]};
	fate->weight.sum += sums.sum;
	fate->weight.square += sums.square;
}

/*
 * Batches are added in the order of the manifest, which is that of their numbers. Only the scatter
 * depends on that order.
 */
void sl_results_make(const struct sl_manifest *m, bool counts, struct sl_results *r)
{
	memset(r, 0, sizeof(*r));
	r->counts = counts;
	for (size_t i = 0; i < m->n; i++) {
		const struct sl_manifest_line *l = &m->line[i];

		r->survivors += l->survivors;
		r->bytes += sl_manifest_line_bytes(l);
		r->steps += l->tally.steps;
		r->collisions += l->tally.collisions;
		for (int f = 0; f < SL_FATE_COUNT; f++)
			add_fate(r, l, (enum sl_fate)f);
		r->all.n++;
		r->all.particles += l->generated;
	}
	for (int f = 0; m->n > 0 && f < SL_FATE_COUNT; f++) {
		struct sl_fate_result *fate = &r->fate[f];
		struct sl_fate_sums count = {fate->count, fate->count};

		fate->fraction = sl_fraction_of(&count, r->all.particles, true).value;
		fate->result =
			sl_fraction_of(counts ? &count : &fate->weight, r->all.particles, counts);
	}
}

void sl_truncated_json(struct sl_json *j, uint64_t count, uint64_t particles, uint64_t max_steps)
{
	sl_json_array(j, "warnings");
	if (count > 0)
		sl_json_text(j, NULL,
			sl_said("%lu particle%s (%.3g %%) reached transport.max_steps = %lu and ended "
				"with fate max_steps: the results lack the rest of their histories; "
				"raise transport.max_steps",
				count, count == 1 ? "" : "s",
				100 * (double)count / (double)particles, max_steps));
	sl_json_close(j);
}

/*
 * The binomial standard error is an upper bound for weights up to 1, for a fate that no particle
 * has, or whose squares are not known.
 */
double sl_check_deviation(const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate)
{
	const double expected = plan->config.check.fate[fate];
	const struct sl_fraction *f = &r->fate[fate].result;

	if (!(fabs(f->value - expected) > 0))
		return 0;
	return (f->value - expected) /
	       (!r->counts && f->error > 0
			       ? f->error
			       : sl_error_of_mean(expected, expected, r->all.particles));
}

/* Fates are checked in their order in fates.def, so the message does not depend on the machine. */
enum sl_status sl_checks(const struct sl_plan *plan, const struct sl_results *r)
{
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		double deviation = sl_check_deviation(plan, r, (enum sl_fate)f);

		if (isnan(plan->config.check.fate[f]) ||
			fabs(deviation) <= plan->config.check.sigma)
			continue;
		return sl_fail(SL_CHECK_FAILED,
			"check.%s: %.7g was expected and %.7g found, a deviation of %+.1f sigma (the "
			"limit is %.3g); correct the expected value if it belongs to another "
			"configuration, else report an error of the program",
			sl_fate_facts[f].name, plan->config.check.fate[f], r->fate[f].result.value,
			deviation, plan->config.check.sigma);
	}
	return SL_OK;
}

/* The sums of weights are integers, so adding fates before converting is exact. */
static struct sl_fate_sums sums_of(const struct sl_results *r, sl_fate_set fates)
{
	struct sl_fate_sums sums = {0};

	for (int f = 0; f < SL_FATE_COUNT; f++) {
		sums.sum += SL_HAS(fates, f) ? r->fate[f].weight.sum : 0;
		sums.square += SL_HAS(fates, f) ? r->fate[f].weight.square : 0;
	}
	return sums;
}

double sl_sum_of_weights(const struct sl_plan *plan, const struct sl_results *r, sl_fate_set fates)
{
	return (double)sums_of(r, fates).sum * sl_weight_of(&plan->recipe, 1);
}

/*
 * A ratio of two sums, to first order: particle i of the fate adds w_i (1 - share), any other one
 * -w_i share. Where all weights are equal, this is the binomial error.
 */
struct sl_fraction sl_share_of_weight(
	const struct sl_plan *plan, const struct sl_results *r, enum sl_fate fate)
{
	const double unit = sl_square_unit(&plan->recipe),
		     all = sl_sum_of_weights(plan, r, SL_EVERY_FATE);
	const double mine = (double)sums_of(r, SL_FATE_BIT(fate)).square;
	const double others = (double)sums_of(r, SL_EVERY_FATE & ~SL_FATE_BIT(fate)).square;
	struct sl_fraction share = {0, 0};

	if (all == 0)
		return share;
	share.value = sl_sum_of_weights(plan, r, SL_FATE_BIT(fate)) / all;
	share.error = sl_sums_weights(&plan->recipe)
	                      ? sqrt(unit * (mine * pow(1 - share.value, 2) +
						    others * pow(share.value, 2))) /
	                                fabs(all)
	                      : r->fate[fate].result.error;
	return share;
}
