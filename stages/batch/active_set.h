/*
 * active_set.h - particles on their way: where a round takes them from, and where it leaves them.
 */
#ifndef SL_STAGES_BATCH_ACTIVE_SET_H
#define SL_STAGES_BATCH_ACTIVE_SET_H

#include <stdbool.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

/* n particles, some of them dead; of those a round moves the living, by so many steps at most. */
struct sl_active_set {
	struct sl_columns columns;
	uint32_t *place; /* n: where each belongs in the batch; NULL: columns are the batch's */
	uint32_t n;
	uint32_t steps;
	uint32_t alive; /* behind the round */
};

/* Particle i of them; set names the columns that are carried, a constant at each call. */
SL_HD struct sl_particle sl_active_set_take(
	const struct sl_active_set *l, uint32_t set, uint64_t first_id, uint32_t i)
{
	struct sl_particle p = sl_load(&l->columns, set, i);

	p.id = first_id + (l->place ? l->place[i] : i);
	return p;
}

/* Puts it back, or, once it is dead, to its place in the batch. Is it alive? */
SL_HD bool sl_active_set_put(const struct sl_active_set *l, uint32_t set,
	const struct sl_columns *batch, uint32_t i, const struct sl_particle *p)
{
	bool alive = p->fate == SL_FATE_alive;

	if (alive || !l->place) {
		sl_store(&l->columns, set, i, p);
	} else {
		l->columns.fate[i] = p->fate;
		sl_store(batch, set, l->place[i], p);
	}
	return alive;
}

SL_C_END

#endif
