/*
 * rounds.h - a batch that dies step by step: some steps for all that live, and the dead are left
 * behind.
 *
 *	round    some steps of each living particle -> who is still alive, and how many
 *	compact  when so many have died that it pays: the living, as a dense state
 *	sort     when asked for: the living in the order of a key, which is dense too
 *	finish   when few are left: all their steps in one last round
 *
 * The other way, a history, is one round without an end (Hamilton, Slattery and Evans, Multigroup
 * Monte Carlo on GPUs: comparison of history- and event-based algorithms, Ann. Nucl. Energy 113
 * (2018) 506, compare both). A step is a pure function of a particle, so no schedule changes a bit.
 *
 * The first round works on the batch's columns in place. Compaction moves the living to a state,
 * columns of as many as there are, with the place in the batch that each came from, and from there
 * to another, to and fro. A particle that dies is written to its place: in the end all are there,
 * in the order of ids, as after a history.
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

/*
 * The rooms of a batch of at most n particles for the dense states of its living, in a; none where
 * the schedule needs none. b->living becomes all of the batch, in place.
 */
void sl_rounds_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* Scratch that compacting and sorting the living need. */
size_t sl_rounds_scratch(const struct sl_recipe *r, uint32_t n);

/* All of b in place, to be moved by that many steps a round. */
void sl_active_set_begin(struct sl_batch *b, uint32_t steps);

/* Marks in time, of a round: before and behind the steps, before and behind what moves the living.
 */
enum sl_round_mark {
	SL_ROUND_BEGINS,
	SL_ROUND_ADVANCED,
	SL_ROUND_MOVES,
	SL_ROUND_COMPACTED,
	SL_ROUND_SORTED,
	SL_ROUND_MARKS
};

/*
 * What rounds are made of beside the primitives, on the host (rounds_host.c) and on a
 * device (rounds_device.c). What is done to b is done to b->living.
 */
struct sl_round_operations {
	/*
	 * Advances the living and sets b->keep for each, between its two marks; returns when that
	 * is done, with b->living.alive.
	 */
	enum sl_status (*advance)(const struct sl_recipe *r, void *of, struct sl_batch *b);
	/* Packs the schedule's key, u32, of the n living that b->index names, into b->key. */
	enum sl_status (*key)(
		const struct sl_recipe *r, void *of, const struct sl_batch *b, uint32_t n);
	/* The living that b->index names, to->n, in that order and with their places: to *to. */
	enum sl_status (*gather)(const struct sl_recipe *r, void *of, const struct sl_batch *b,
		const struct sl_active_set *to);
	/* Takes the time at which all that was queued is done. */
	enum sl_status (*mark)(void *of, enum sl_round_mark m);
	/* Between two such times, both before the last return of advance. */
	enum sl_status (*between)(
		void *of, enum sl_round_mark from, enum sl_round_mark to, uint64_t *ns);
};

/*
 * The stage advance in rounds, of a batch that is generated: until none is alive. n_out is a word
 * of the space of x. Fills b->rounds. SL_STOPPED when r->drop was set.
 */
enum sl_status sl_rounds_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	const struct sl_round_operations *by, void *of, uint32_t *n_out);

/* Adds what the rounds of a batch were to a sum. */
void sl_rounds_add(struct sl_rounds *sum, const struct sl_rounds *of_batch);

/*
 * Queues the kernel that copies the particles of b->active_set that b->index names to *to, in that
 * order, together with their places. to->n is the number of particles.
 */
typedef enum sl_status sl_move_launcher(
	const struct sl_batch *b, const struct sl_active_set *to, sl_stream s);
sl_move_launcher sl_queue_move, sl_queue_move_emulated;

SL_C_END

#endif
