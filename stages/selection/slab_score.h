/*
 * slab_score.h - what a step of a particle in the slab scores: a collision, if it ends in one. Scores of
 * its flight are in flight_score.h.
 *
 * The score follows from the particle before and after the step, so the rules of slab.h need no change for
 * it, and histories have the same bits with and without scores.
 */
#ifndef SL_STAGES_SELECTION_SLAB_SCORE_H
#define SL_STAGES_SELECTION_SLAB_SCORE_H

#include "stages/models/slab.h"

/* The layer at depth z, which is not a boundary between two layers: no collision is on one. */
SL_HD const struct sl_slab_layer *sl_slab_layer_of(const struct sl_slab *r, float z)
{
	uint32_t i = 0;

	for (uint32_t k = 1; k < r->layers; k++)
		i += z > r->layer[k - 1].bottom;
	return &r->layer[i];
}

/* 1/speed in the layer that a particle at depth z flies through in a direction w, ns/cm. */
SL_HD float sl_slab_slowness(const struct sl_slab *r, float z, float w)
{
	uint32_t i = 0;

	for (uint32_t k = 0; k + 1 < r->layers; k++) {
		const float bottom = r->layer[k].bottom;

		i += z > bottom || (z == bottom && !(w < 0.0f));
	}
	return r->layer[i].slowness;
}

/*
 * Sets what a collision in layer l scores that a particle came to with a weight, and left with a fate. With
 * analogue absorption an absorbed particle deposits its weight; with implicit capture each collision
 * deposits a part of it, before the roulette. A clear layer has no mean free path, and so no estimate of
 * the fluence by collisions.
 */
SL_HD void sl_slab_collision(const struct sl_slab *r, const struct sl_slab_layer *l, float weight,
	uint8_t fate, float *deposit, float *fluence)
{
	float path = l->mean_free_path < SL_SLAB_CLEAR_PATH ? l->mean_free_path : 0.0f;
	float whole = fate == SL_FATE_absorbed ? weight : 0.0f, part = weight - weight * l->keep;

	*deposit = r->below > 0.0f ? part : whole;
	*fluence = weight * path;
}

#endif
