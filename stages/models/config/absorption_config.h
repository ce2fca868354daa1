/*
 * absorption_config.h - the options of absorption and roulette. Host only; the configurations of
 * models with media include it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_ABSORPTION_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_ABSORPTION_CONFIG_H

#include "stages/models/common/absorption.h"

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
