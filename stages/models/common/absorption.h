/*
 * absorption.h - absorption at collisions, and Russian roulette, for the rules of models with
 * media: of whole particles (analogue), or of a part of the weight at each collision (implicit
 * capture; balanced is the same with thresholds near 1).
 */
#ifndef SL_STAGES_MODELS_COMMON_ABSORPTION_H
#define SL_STAGES_MODELS_COMMON_ABSORPTION_H

#include "stages/models/common/flight.h"

enum sl_absorption { SL_ANALOGUE, SL_IMPLICIT, SL_BALANCED };

struct sl_roulette {
	float below, survive, gain; /* threshold, probability, 1/survive; analogue: below is 0 */
};

/*
 * Absorption at a collision: of the whole particle with probability absorb, or of the fraction
 * 1 - keep of its weight, followed by Russian roulette.
 */
SL_HD_PART void sl_absorb(
	const struct sl_roulette *r, sl_f32 absorb, sl_f32 keep, sl_lanes *p, sl_f32 uniform)
{
	sl_mask low, wins;

	p->fate = sl_select_fate(uniform <= absorb, SL_FATE_absorbed, p->fate);
	p->weight *= keep;
	low = p->weight < r->below;
	if (sl_any(low)) {
		wins = (uniform <= r->survive) & (p->weight > 0.0f);
		p->weight = sl_select(low, sl_select(wins, p->weight * r->gain, 0.0f), p->weight);
		p->fate = sl_select_fate(
			low, sl_select_fate(wins, SL_FATE_alive, SL_FATE_roulette), p->fate);
	}
}

/*
 * The weight that a collision deposits: with analogue absorption that of an absorbed particle; with
 * implicit capture a part of it, before the roulette. p is the particle after it.
 */
SL_HD_PART sl_f32 sl_deposit(
	const struct sl_roulette *r, sl_f32 keep, const sl_lanes *p, sl_f32 weight)
{
	if (r->below > 0.0f)
		return weight - weight * keep;
	return sl_select(p->fate == SL_FATE_absorbed, weight, 0.0f);
}

#endif
