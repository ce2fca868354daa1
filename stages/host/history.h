/*
 * history.h - one particle followed step by step, with what it drew: for people who ask why.
 *
 * The rules are those of the loops, compiled once more, in history.c alone, with each of their
 * draws told to a watcher; all others draw as ever, and the bits are the same.
 */
#ifndef SL_STAGES_HOST_HISTORY_H
#define SL_STAGES_HOST_HISTORY_H

#include "stages/particle/random.h"
#include "stages/batch/recipe.h"

struct sl_history_step {
	uint64_t number; /* from 1; 0 is the start, which the model's generate() makes */
	/*
	 * What happened, in a word, as far as the particle's state before and after tells it:
	 *
	 *	start      it was made, alive or not
	 *	a fate     it was decided in this step
	 *	collision  its collisions have grown
	 *	surface    its direction is another, without a collision
	 *	flight     none of these
	 */
	const char *event;
	struct sl_particle p; /* as the step has left it */
};

/* Each step is told by step, then what it drew by draw, in the order that it was drawn. */
struct sl_history_observer {
	/* false: enough has been seen */
	bool (*step)(void *of, const struct sl_history_step *s);
	/* words 4 * block to 4 * block + 3 of the particle */
	void (*draw)(void *of, uint64_t block, struct sl_words words);
	void *of;
};

/*
 * Follows the particle id from its start until its fate is decided, with no bound to its steps but
 * the model's own. Returns it as it ended: to the bit what sl_compute_particle() gives.
 */
struct sl_particle sl_follow_history(
	const struct sl_recipe *r, uint64_t id, const struct sl_history_observer *watcher);

#endif
