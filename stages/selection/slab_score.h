/*
 * slab_score.h - what a step of a particle in the slab scores: a collision, if it ends in one.
 * Scores of its flight are in flight_score.h.
 *
 * The score follows from the particle before and after the step, so the rules of slab.h need no
 * change for it, and histories have the same bits with and without scores.
 */
#ifndef SL_STAGES_SELECTION_SLAB_SCORE_H
#define SL_STAGES_SELECTION_SLAB_SCORE_H

#include "stages/models/slab.h"

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
 * What a collision of p in layer i deposits. weight is that of p before the step. With analogue
 * absorption an absorbed particle deposits its weight; with implicit capture each collision
 * deposits a part of it, before the roulette. most as for SL_SLAB_LAYER().
 */
SL_HD_PART sl_f32 sl_slab_deposit_in(
	const struct sl_slab *r, uint32_t most, sl_u32 i, const sl_lanes *p, sl_f32 weight)
{
	if (r->below > 0.0f)
		return weight - weight * SL_SLAB_LAYER(i, keep);
	return sl_select(p->fate == SL_FATE_absorbed, weight, 0.0f);
}

/*
 * What a collision adds to the fluence. A clear layer has no mean free path, and so no estimate by
 * collisions.
 */
SL_HD_PART sl_f32 sl_slab_fluence_in(
	const struct sl_slab *r, uint32_t most, sl_u32 i, sl_f32 weight)
{
	sl_f32 path = SL_SLAB_LAYER(i, mean_free_path);

	return weight * sl_select(path < SL_SLAB_CLEAR_PATH, path, 0.0f);
}

/*
 * Sets both in the layer that the depth of p gives: no collision is on a boundary between two
 * layers.
 */
SL_HD_PART void sl_slab_collision(
	const struct sl_slab *r, const sl_lanes *p, sl_f32 weight, sl_f32 *deposit, sl_f32 *fluence)
{
	sl_u32 i = sl_all_u32(0);

	for (uint32_t k = 0; k + 1 < r->layers; k++)
		i += sl_one_if(p->z > r->layer[k].bottom);
	if (SL_FEW > 1 && r->layers <= SL_FEW) {
		*deposit = sl_slab_deposit_in(r, SL_FEW, i, p, weight);
		*fluence = sl_slab_fluence_in(r, SL_FEW, i, weight);
	} else {
		*deposit = sl_slab_deposit_in(r, SL_SLAB_LAYERS_MAX, i, p, weight);
		*fluence = sl_slab_fluence_in(r, SL_SLAB_LAYERS_MAX, i, weight);
	}
}

#endif
