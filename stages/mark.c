/* mark.c - keep flags, and the tallies of a batch. */
#include "stages/mark.h"

#include "stages/recipe.h"

SL_LOOP(mark)
{
	const struct sl_columns *c = &b->columns;
	struct sl_tally *t = &b->tally;

	for (uint32_t i = from; i < to; i++) {
		uint8_t fate = c->fate[i];

		b->keep[i] = 0;
		if (fate >= SL_FATE_COUNT)
			continue; /* memory is damaged: not counted, so fates do not close */
		b->keep[i] = sl_keeps(r->keep, fate);
		t->count[fate]++;
		t->weight[fate] += sl_fixed_weight(c->weight[i]);
	}
	for (uint32_t i = from; c->steps && i < to; i++)
		t->steps += c->steps[i];
	for (uint32_t i = from; c->collisions && i < to; i++)
		t->collisions += c->collisions[i];
}
