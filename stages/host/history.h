/*
 * history.h - follows one particle step by step and reports its states and random words.
 *
 * The rules are those of the loops, so the particle ends with the same bits as in a batch.
 */
#ifndef SL_STAGES_HOST_HISTORY_H
#define SL_STAGES_HOST_HISTORY_H

#include "stages/batch/recipe.h"
#include "stages/particle/random.h"

struct sl_history_step {
	uint64_t number; /* from 1; 0 is the start, made by the model's generate() */
	/*
	 * What happened, derived from the states before and after the step:
	 *
	 *	start      the particle was generated, alive or not
	 *	FATE       the name of the fate that this step decided
	 *	collision  its number of collisions has grown
	 *	surface    its direction changed without a collision
	 *	flight     none of these
	 */
	const char *event;
	struct sl_particle p; /* the state after the step */
};

/* Callbacks: step() once per step, then draw() for each block of random words of that step, in the
 * order in which they were drawn. ctx is passed to both. */
struct sl_history_observer {
	/* Returns false to stop. */
	bool (*step)(void *ctx, const struct sl_history_step *s);
	sl_draw_observer *draw;
	void *ctx;
};

/*
 * Follows particle id from its start until its fate is decided or step() returns false. Returns its
 * last state, with its final fate: the same bits as sl_compute_particle().
 */
struct sl_particle sl_follow_history(
	const struct sl_recipe *r, uint64_t id, const struct sl_history_observer *observer);

#endif
