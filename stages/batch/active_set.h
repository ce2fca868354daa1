/*
 * active_set.h - the particles that the advance stage is working on.
 *
 * Without rounds, and in the first round, the active set is the batch itself, in place. After a
 * compaction it is a dense copy of the particles that are still alive, and place says where in the
 * batch each of them belongs.
 */
#ifndef SL_STAGES_BATCH_ACTIVE_SET_H
#define SL_STAGES_BATCH_ACTIVE_SET_H

#include <stdbool.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

/* A round advances those of the n particles that are alive, each by at most steps steps. */
struct sl_active_set {
	struct sl_columns columns;
	uint32_t *place; /* n: number of each in the batch; NULL: columns are those of the batch */
	uint32_t n;
	uint32_t steps;
	uint32_t alive;     /* after the round */
	sl_column_set zero; /* columns that are 0 and stay so: need not be accessed */
};

/* Loads particle i with the columns of set, which is a constant at each call. */
SL_HD struct sl_particle sl_active_set_load(
	const struct sl_active_set *a, sl_column_set set, uint64_t first_id, uint32_t i)
{
	struct sl_particle p = sl_load(&a->columns, set, i);

	p.id = first_id + (a->place ? a->place[i] : i);
	return p;
}

/*
 * Stores particle i: in the active set while it is alive, otherwise at its place in the batch.
 * Returns whether it is alive.
 */
SL_HD bool sl_active_set_store(const struct sl_active_set *a, sl_column_set set,
	const struct sl_columns *batch, uint32_t i, const struct sl_particle *p)
{
	bool alive = p->fate == SL_FATE_alive;

	if (alive || !a->place) {
		sl_store(&a->columns, set, i, p);
	} else {
		a->columns.fate[i] = p->fate;
		sl_store(batch, set, a->place[i], p);
	}
	return alive;
}

SL_C_END

#endif
