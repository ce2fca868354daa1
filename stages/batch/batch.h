/*
 * batch.h - a batch of particles: the data that travels from stage to stage.
 *
 * A batch is a pure function of the configuration, the seed and the number of the batch. The table
 * lists which fields are valid after which stage.
 *
 *	generate   the particles at their starts         first_id, n, columns
 *	advance    the particles at their ends           columns, with fate
 *	mark       which particles survive; the counts   keep, tally, bins
 *	compact    the survivors in id order             index, n_survivors, place
 *	sort       the survivors in key order            index, key
 *	write      the columns of the survivors          table
 *
 * A device may then pack the table into records or DEFLATE streams (stages/device/pack.h). In that
 * case device_packed holds them, and the table has only the columns that are also needed unpacked.
 * Or the survivors stay on the device: then resident holds all columns, and the table only those
 * that the host needs.
 */
#ifndef SL_STAGES_BATCH_BATCH_H
#define SL_STAGES_BATCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/device/device_block.h"
#include "stages/batch/active_set.h"
#include "stages/particle/table.h"

SL_C_BEGIN

/*
 * The counts of a batch. All are integers, so that no sum depends on the order of its terms.
 * Weights are fixed-point numbers with 32 fractional bits (weight.h); with weights of at most 1 and
 * fewer than 2^32 particles per batch their sum cannot overflow. For a model that reads its
 * particles the unit is 2^-(32 + sl_recipe.weight_shift), chosen so that the sum of all weights
 * fits.
 */
struct sl_tally {
	uint64_t count[SL_FATE_COUNT];  /* particles with the fate */
	uint64_t weight[SL_FATE_COUNT]; /* their total weight, in 2^-32 */
	uint64_t square
		[SL_FATE_COUNT]; /* of their squared weights (sl_square_scale()); 0 if all weights are equal */
	uint64_t steps; /* of all particles */
	uint64_t collisions;
	int64_t log_likelihood; /* of a filter, in 2^-32; set by the host */
};

/*
 * The weight of a fate, in 2^-32, where all particles start with weight 1. The weight that is
 * missing at the end has been absorbed by implicit capture, so it is added to the fate absorbed.
 */
static inline uint64_t sl_tally_weight(const struct sl_tally *t, uint64_t particles, int fate)
{
	uint64_t missing = particles << 32;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		missing -= t->weight[f];
	return t->weight[fate] + (fate == SL_FATE_absorbed ? missing : 0);
}

/*
 * The sum of the squares of these weights; 0 if it was not counted. A particle that ends with
 * weight w has had 1 - w absorbed, and all of it if its fate is absorbed: the squares add up to N -
 * 2 sum w + sum w^2, over the particles of the other fates.
 */
static inline uint64_t sl_tally_square(const struct sl_tally *t, uint64_t particles, int fate)
{
	uint64_t weight = 0, square = 0;

	if (fate != SL_FATE_absorbed)
		return t->square[fate];
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		weight += f == SL_FATE_absorbed ? 0 : t->weight[f];
		square += f == SL_FATE_absorbed ? 0 : t->square[f];
	}
	return weight > 0 && square == 0 ? 0 : (particles << 32) - 2 * weight + square;
}

/* Sums over batches of the round with one number. */
struct sl_round {
	uint64_t batches;      /* that had this round */
	uint64_t width, alive; /* size of the active set before the round, dead particles
	                               included; particles alive after it */
	uint64_t compacted;    /* batches compacted after the round */
	uint64_t advance_ns, compact_ns;
};

/* The rounds of a batch. The last entry also counts all rounds after it. */
enum { SL_ROUNDS_MAX = 64 };
struct sl_rounds {
	uint32_t n;       /* entries used; 0: the batch ran as histories */
	uint64_t longest; /* largest number of rounds of a batch */
	struct sl_round at[SL_ROUNDS_MAX];
};

/* The value of turn for a batch that reads its files without waiting for other batches. */
#define SL_NO_TURN UINT64_MAX

struct sl_batch {
	uint64_t number;
	uint64_t first_id;
	const uint64_t *first_id_on_device; /* what kernels read: it may change between launches of
	                                       one CUDA graph, while all arguments stay */
	uint64_t turn; /* order in which batches read from files (input_reader.h) */
	uint32_t n;    /* particles generated */
	uint32_t n_survivors;
	/* device memory: the number of survivors, if n_survivors is only its bound; else NULL */
	const uint32_t *n_counted;
	/*
	 * n each. On the host, columns that survivors do not keep have only one block
	 * (host.h).
	 */
	struct sl_columns columns;
	uint32_t *source; /* n source records (struct sl_table); NULL: the batch keeps none */
	struct sl_active_set active_set; /* of the advance stage */
	struct sl_active_set state[2];   /* memory for compacted active sets (rounds.h) */
	uint64_t *filter_weight; /* n, of a filter: integer weights, then their sums (resample.h) */
	uint64_t *filter_draw;   /* n, sorted: multinomial resampling; weights, for quantiles */
	uint32_t *filter_key;    /* n: sorted, for quantiles */
	uint32_t *filter_end;    /* n: the ends of the runs of offspring */
	uint64_t *ancestry;      /* of a filter that is replayed (host.h); NULL: not recorded */
	uint8_t *keep;           /* n, or one block: 1 = survives */
	uint32_t *index;         /* n_survivors: positions in columns */
	uint32_t *place;         /* the particle at each position: first_id + place; NULL:
	                                    first_id + position */
	void *key;               /* n_survivors: u32 or u64 */
	uint32_t *record;        /* n_survivors records (packed_record.h); fused mode only */
	struct sl_tally tally;
	struct sl_rounds rounds;
	uint64_t *bins;     /* counters of the tallies (grid.h); NULL: there are none */
	uint32_t bin_words; /* number of counters */
	struct sl_table table;
	struct sl_device_packed device_packed;
	struct sl_device_block *resident; /* the columns (resident.h); NULL: none */
};

/* The id of the particle at a position of the columns. */
SL_HD uint64_t sl_batch_id(const struct sl_batch *b, uint32_t position)
{
	return b->first_id + (b->place ? b->place[position] : position);
}

SL_C_END

#endif
