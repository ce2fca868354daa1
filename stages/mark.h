/* mark.h - who is dead, and what is counted of everybody. */
#ifndef SL_STAGES_MARK_H
#define SL_STAGES_MARK_H

#include <math.h>

#include "stages/particle/particle.h"

/* A particle survives when its fate is one of those kept; every other fate is dead. */
SL_HD uint8_t sl_keeps(uint32_t keep, uint8_t fate)
{
	return (uint8_t)SL_HAS(keep, fate);
}

/*
 * A weight in fixed point with 32 bits after the point: exact from 2^-9 on. A smaller one is
 * rounded, by 2^-33 at most and either way: small as a part of weights down to 1e-6, and none of a
 * sum of many, the scatter of which hides it. One below 0, as lists may have it, is counted modulo
 * 2^64, so that it takes from a sum, and may be off by a whole step.
 */
SL_HD uint64_t sl_fixed_weight(float weight)
{
	return (uint64_t)(int64_t)(weight < 0x1p-9f ? fmaf(weight, 0x1p32f, 0.5f)
						    : weight * 0x1p32f);
}

#endif
