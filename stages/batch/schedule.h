/*
 * schedule.h - when the advance stage compacts and sorts the active particles of a batch.
 *
 * The advance stage runs either as histories (each particle is followed to its end in one call) or
 * in rounds of a fixed number of steps (stages/rounds/rounds.h). With rounds, a schedule says after
 * which rounds the active particles are compacted, after which they are sorted by a key, and below
 * which fraction of the batch the rest is finished in one last round. A step is a pure function of
 * a particle, so no schedule changes a bit of the result.
 */
#ifndef SL_STAGES_BATCH_SCHEDULE_H
#define SL_STAGES_BATCH_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/selection/key.h"

/* After which rounds an action (compact or sort) is done. */
enum sl_when_kind { SL_NEVER, SL_EVERY, SL_BELOW };
struct sl_when {
	enum sl_when_kind kind;
	uint32_t every; /* SL_EVERY: after each group of this many rounds */
	double below;   /* SL_BELOW: when the particles alive are fewer than this fraction of
	                   those alive when the action was last done */
};

struct sl_schedule {
	uint32_t steps; /* per round; 0: histories, there are no rounds */
	struct sl_when compact, sort;
	double finish;     /* fraction of the batch below which one last round takes all remaining
	                      steps; 0: never */
	uint32_t n_fields; /* of the key that active particles are sorted by */
	struct sl_key_rule field[SL_KEY_FIELDS_MAX];
	uint32_t key_bits; /* of all fields together, at most 32 */
};

/*
 * Whether an action is due after a round. round counts from 0; last is the number of particles
 * alive when the action was last done, alive the number now.
 */
static inline bool sl_is_due(
	const struct sl_when *when, uint32_t round, uint32_t last, uint32_t alive)
{
	switch (when->kind) {
	case SL_NEVER:
		break;
	case SL_EVERY:
		return (round + 1) % when->every == 0;
	case SL_BELOW:
		return alive < when->below * last;
	}
	return false;
}

#endif
