/*
 * absorption.h - absorption at collisions, and Russian roulette, for the rules of models with
 * media: of whole particles (analogue), or of a part of the weight at each collision (implicit
 * capture; balanced is the same with thresholds near 1).
 */
#ifndef SL_STAGES_MODELS_ABSORPTION_H
#define SL_STAGES_MODELS_ABSORPTION_H

#include "stages/models/flight.h"

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

#ifdef SL_MODEL_HOST
#include "stages/models/model.h"

/* The choices of an option absorption. */
static const char *const sl_absorptions[] = {"analogue", "implicit", "balanced", NULL};

/* Values of the options roulette.below and roulette.survive. */
struct sl_roulette_config {
	double below, survive;
};

/*
 * Makes the parameters of the roulette. gain is computed from the float survive that the rules
 * compare with, so that the expected weight after the roulette equals the weight before it.
 * Balanced: a weight below 1/2 is doubled or ends, so histories are little longer than with
 * analogue absorption, and the weights that leave differ by little more than a factor of 2.
 */
static inline struct sl_roulette sl_make_roulette(
	int absorption, const struct sl_roulette_config *c, const struct sl_model_check *check)
{
	bool implicit = absorption == SL_IMPLICIT, balanced = absorption == SL_BALANCED;
	double below = balanced ? 0.5 : c->below;
	float survive = (float)(balanced ? 0.5 : c->survive);

	sl_model_refuse_unused(check, implicit, "roulette.below", "absorption: implicit");
	sl_model_refuse_unused(check, implicit, "roulette.survive", "absorption: implicit");
	if (implicit && below > c->survive)
		check->complain(check->ctx, "roulette.below",
			"is above roulette.survive: weights could exceed 1; make it at most %.15g",
			c->survive);
	return (struct sl_roulette){.below = implicit || balanced ? (float)below : 0.0f,
		.survive = survive,
		.gain = (float)(1 / (double)survive)};
}

/* Analogue absorption has no roulette, so its threshold is 0. */
static inline bool sl_is_analogue(const struct sl_roulette *r)
{
	return !(r->below > 0.0f);
}

/* The exponent of the least power of 2 that is above a length; -64 at least. */
static inline int sl_length_exponent(float length)
{
	float power = 0x1p-64f;
	int shift = -64;

	for (; power <= length; power *= 2)
		shift++;
	return shift;
}

#endif
#endif
