/* mark.h - who is dead, and what is counted of everybody. */
#ifndef SL_MARK_H
#define SL_MARK_H

#include "stages/particle.h"

/* A particle survives when its fate is one of those kept; every other fate is dead. */
SL_HD uint8_t sl_keeps(uint32_t keep, uint8_t fate)
{
	return (uint8_t)SL_HAS(keep, fate);
}

/*
 * A weight in fixed point with 32 bits after the point: exact for weights of 2^-8 and more; of
 * smaller ones less than 2^-32 is cut off, and so of the mean of many: an error by statistics is
 * larger for fewer than 2^48 of them.
 */
SL_HD uint64_t sl_fixed_weight(float weight)
{
	return (uint64_t)(weight * 0x1p32f);
}

#endif
