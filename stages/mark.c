/* mark.c - stage mark on the host: final fates, keep flags, the tally and the histograms. */
#include "stages/mark.h"

#include "stages/batch/recipe.h"
#include "stages/particle/weight.h"

/* Counts each particle in each histogram. */
static void count_bins(const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	const struct sl_columns *c = &b->columns;
	float scale = sl_weight_scale(r);

	for (uint32_t k = 0; k < r->bins.n; k++)
		for (uint32_t i = from; i < to; i++) {
			uint8_t fate = c->fate[i];
			uint32_t at = fate < SL_FATE_COUNT
			                      ? sl_histogram_find(&r->bins.tally[k], c, i, fate)
			                      : (uint32_t)SL_NO_COUNTER;

			if (at == SL_NO_COUNTER)
				continue;
			b->bins[at]++;
			if (r->bins.weighted)
				b->bins[r->bins.n_counters + at] +=
					sl_fixed_weight(c->weight[i] * scale);
		}
}

void SL_AT_LEVEL(sl_loop_mark)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	const struct sl_columns *c = &b->columns;
	bool weighted = sl_models[r->model]->weighted;
	float scale = sl_weight_scale(r);
	struct sl_tally *t = &b->tally;

	for (uint32_t i = from; r->condition.n > 0 && i < to; i++)
		c->fate[i] = sl_condition_fate(&r->condition, c, i, b->first_id + i, c->fate[i]);
	for (uint32_t i = from; i < to; i++) {
		uint8_t fate = c->fate[i];

		b->keep[i] = 0;
		if (fate >= SL_FATE_COUNT)
			continue; /* memory error: not counted, so sl_check_fate_counts() fails */
		b->keep[i] = sl_has_fate(r->keep, fate);
		t->count[fate]++;
		t->weight[fate] += sl_fixed_weight(weighted ? c->weight[i] * scale : 1.0f);
	}
	for (uint32_t i = from; c->steps && i < to; i++)
		t->steps += c->steps[i];
	for (uint32_t i = from; c->collisions && i < to; i++)
		t->collisions += c->collisions[i];
	count_bins(r, b, from, to);
}
