/*
 * counters.h - all counts that a device makes for a batch, in one block of memory.
 *
 * The block is copied to the host in one transfer. The counters of the tallies follow
 * the struct: sl_grid_words() words of 64 bits.
 */
#ifndef SL_STAGES_COUNTING_COUNTERS_H
#define SL_STAGES_COUNTING_COUNTERS_H

#include "stages/batch/batch.h"
#include "stages/selection/grid.h"

SL_C_BEGIN

struct sl_batch_counters {
	struct sl_tally tally;
	uint64_t digest[SL_COLUMN_COUNT]; /* of the columns of the table, see digest.h */
	uint64_t alive;                   /* particles alive after the last round */
	uint32_t n_survivors;
};

/* The counters of the tallies, which follow the struct. */
static inline uint64_t *sl_batch_counters_tallies(struct sl_batch_counters *c)
{
	return (uint64_t *)(void *)(c + 1);
}

/* Bytes of the struct and of so many counters together. */
static inline size_t sl_batch_counters_bytes(uint64_t words)
{
	return sizeof(struct sl_batch_counters) + words * sizeof(uint64_t);
}

SL_C_END

#endif
