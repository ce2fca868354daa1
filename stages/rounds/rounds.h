/*
 * rounds.h - the advance stage in rounds: a few steps of all active particles, then compaction.
 *
 *	round    some steps of each alive particle; counts who is still alive
 *	compact  moves the particles that are alive to a dense active set
 *	finish   when few are left: one last round takes all their steps
 *
 * The alternative, histories, is one round without a limit of steps. (Hamilton, Slattery and Evans,
 * Multigroup Monte Carlo on GPUs: comparison of history- and event-based algorithms, Ann. Nucl.
 * Energy 113 (2018) 506, compare both.) A step is a pure function of a particle, so no schedule
 * changes a bit of the result.
 *
 * The first round works on the columns of the batch in place. A compaction moves the active
 * particles to one of two states, dense columns with the place in the batch that each particle
 * belongs to, and the next compaction moves them to the other state. A particle that ends is
 * written to its place in the batch, so that at the end all particles are there in id order, as
 * with histories.
 */
#ifndef SL_STAGES_ROUNDS_ROUNDS_H
#define SL_STAGES_ROUNDS_ROUNDS_H

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "primitives/primitives.h"
#include "stages/batch/batch.h"
#include "stages/batch/schedule.h"

SL_C_BEGIN

struct sl_recipe;

/* Lays out the two states of b for batches of at most n particles in a; with histories, nothing. */
void sl_rounds_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* Bytes of scratch for compacting the active set of a batch of n particles. */
size_t sl_rounds_scratch(const struct sl_recipe *r, uint32_t n);

/*
 * Makes all particles of b the active set, in place, to be advanced by the given steps per round.
 */
void sl_active_set_begin(struct sl_batch *b, uint32_t steps);

/* Points in time of a round: before and after the steps, before and after the compaction. */
enum sl_round_mark {
	SL_ROUND_BEGINS,
	SL_ROUND_ADVANCED,
	SL_ROUND_MOVES,
	SL_ROUND_COMPACTED,
	SL_ROUND_MARKS
};

/*
 * The operations of a round that differ between host (rounds_host.c) and device (rounds_device.c).
 * They work on b->active_set; ctx is the argument of sl_rounds_run().
 */
struct sl_round_operations {
	/*
	 * Advances the active set and sets b->keep for each of its particles. Returns when that is
	 * done and b->active_set.alive is known. Records the marks BEGINS and ADVANCED.
	 */
	enum sl_status (*advance)(const struct sl_recipe *r, void *ctx, struct sl_batch *b);
	/* Records the time at which all work queued so far is done. */
	enum sl_status (*mark)(void *ctx, enum sl_round_mark m);
	/* The nanoseconds between two marks recorded before the last return of advance. */
	enum sl_status (*between)(
		void *ctx, enum sl_round_mark from, enum sl_round_mark to, uint64_t *ns);
};

/*
 * Runs rounds on b, which has been generated, until no particle is alive. n_out is a word of
 * scratch in the memory space of x. Fills b->rounds. SL_STOPPED if the run was cancelled.
 */
enum sl_status sl_rounds_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	const struct sl_round_operations *operations, void *ctx, uint32_t *n_out);

/* Adds the rounds of a batch to a sum over batches. */
void sl_rounds_add(struct sl_rounds *sum, const struct sl_rounds *batch);

SL_C_END

#endif
