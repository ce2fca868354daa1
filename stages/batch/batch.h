/*
 * batch.h - a batch in flight: what travels from stage to stage.
 *
 * A batch is a pure function of (configuration, seed, number of the batch). Each field says after
 * which stage it is valid.
 *
 *	generate   columns as the particles start       first_id, n
 *	advance    columns as they end, fate decided    columns
 *	mark       who is kept; the tallies             keep, tally, bins
 *	compact    who survives, in id order            index, n_survivors
 *	sort       survivors in key order               index, key
 *	write      survivors' columns, gathered once    table
 *
 * On a device the table may be pressed behind that (pack.h), into records or streams: pressed has
 * them then, and the table those columns alone that are wanted as they are.
 */
#ifndef SL_STAGES_BATCH_BATCH_H
#define SL_STAGES_BATCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/batch/active_set.h"
#include "stages/particle/table.h"

SL_C_BEGIN

/*
 * What is counted of a batch. All integers, so that sums do not depend on their order: weights are
 * in 64-bit fixed point with 32 bits after the point. With weights up to 1 and fewer than 2^32
 * particles a batch they cannot overflow. Of a model that is read the point is where the sum of all
 * weights allows it (sl_recipe.weight_shift).
 */
struct sl_tally {
	uint64_t count[SL_FATE_COUNT];  /* particles of that fate */
	uint64_t weight[SL_FATE_COUNT]; /* their weight, in 2^-32 */
	uint64_t steps;                 /* flights of all particles */
	uint64_t collisions;
};

/*
 * The weight of a fate in a batch of so many particles, in 2^-32. They start with a weight of 1:
 * what is missing in the end was absorbed on the way (implicit capture).
 */
static inline uint64_t sl_tally_weight(const struct sl_tally *t, uint64_t particles, int fate)
{
	uint64_t missing = particles << 32;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		missing -= t->weight[f];
	return t->weight[fate] + (fate == SL_FATE_absorbed ? missing : 0);
}

/* What a round did, summed over batches. */
struct sl_round {
	uint64_t batches;           /* that came so far */
	uint64_t width, alive;      /* particles that it took, of which some may have been dead
	                               already; alive behind it */
	uint64_t compacted, sorted; /* batches of which the living were, behind it */
	uint64_t advance_ns, compact_ns, sort_ns;
};

/* Rounds of a batch; those past the last that has room are counted there. */
enum { SL_ROUNDS_MAX = 64 };
struct sl_rounds {
	uint32_t n;       /* in at; 0: histories, there were none */
	uint64_t longest; /* rounds that a batch had, at most */
	struct sl_round at[SL_ROUNDS_MAX];
};

/* A batch of no turn waits for nobody. */
#define SL_NO_TURN UINT64_MAX

struct sl_batch {
	uint64_t number;
	uint64_t first_id;
	uint64_t turn; /* to read from files (inputs.h) */
	uint32_t n;    /* particles generated */
	uint32_t n_survivors;
	struct sl_columns columns;       /* n each */
	struct sl_active_set active_set; /* of the stage advance: those on their way */
	struct sl_active_set state[2];   /* rooms for them, dense (rounds.h); of n each at most */
	uint8_t *keep;                   /* n: 1 = survives */
	uint32_t *index;                 /* n_survivors */
	void *key;                       /* n_survivors: u32 or u64 */
	uint32_t *record; /* n_survivors, whole; of the fused way alone (packed_record.h) */
	struct sl_tally tally;
	struct sl_rounds rounds;
	uint64_t *bins;     /* tallies by bins (histogram.h); NULL of a run that has none */
	uint32_t bin_words; /* of those */
	struct sl_table table;
	struct sl_device_packed device_packed;
};

SL_C_END

#endif
