/*
 * slab_score.h - what a step of a particle in the slab scores: a collision, if it ends in one.
 *
 * The score follows from the particle before and after the step, so the rules of slab.h need no change for
 * it, and histories have the same bits with and without scores.
 */
#ifndef SL_STAGES_MODELS_SLAB_SCORE_H
#define SL_STAGES_MODELS_SLAB_SCORE_H

#include "stages/models/slab.h"

/*
 * Sets *e to the collision in which a step from a weight ended, at the place of p. With analogue absorption
 * an absorbed particle deposits its weight; with implicit capture each collision deposits a part of it,
 * before the roulette. Collisions are inside of a layer, never on a boundary between two. A clear layer
 * has no mean free path, and so no estimate of the fluence by collisions.
 */
SL_HD void sl_slab_collision(
	const struct sl_slab *r, float weight, const struct sl_particle *p, struct sl_collision *e)
{
	const struct sl_slab_layer *l = &r->layer[0];

	for (uint32_t k = 1; k < r->layers; k++)
		if (p->z > r->layer[k - 1].bottom)
			l = &r->layer[k];
	if (r->below > 0.0f)
		e->deposit = weight - weight * l->keep;
	else
		e->deposit = p->fate == SL_FATE_absorbed ? weight : 0.0f;
	e->fluence = l->mean_free_path < SL_SLAB_CLEAR_PATH ? weight * l->mean_free_path : 0.0f;
}

#endif
