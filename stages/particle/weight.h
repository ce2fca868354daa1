/*
 * weight.h - statistical weights as 64-bit fixed-point numbers.
 *
 * Weights are summed as integers, so that a sum does not depend on the order of its terms: all
 * threads, blocks, devices and backends get the same bits.
 */
#ifndef SL_STAGES_PARTICLE_WEIGHT_H
#define SL_STAGES_PARTICLE_WEIGHT_H

#include <math.h>
#include <stdint.h>

#include "primitives/base/hd.h"

#define SL_WEIGHT_UNITS 0x1p32f /* of a weight of 1 */
#define SL_WEIGHT_EXACT 0x1p-9f /* weights from here on are whole numbers of units */

/* A weight in units, before its fraction is dropped. */
SL_HD float sl_weight_units(float weight)
{
	return weight < SL_WEIGHT_EXACT ? fmaf(weight, SL_WEIGHT_UNITS, 0.5f)
	                                : weight * SL_WEIGHT_UNITS;
}

/*
 * A weight in units of 2^-32. The conversion is exact for weights of at least 2^-9 (24 significant
 * bits). A smaller weight is rounded to nearest, so its error is at most 2^-33: small relative to
 * weights down to 1e-6, and below the statistical scatter of a sum of many weights. A negative
 * weight, which particle lists may contain, is stored modulo 2^64, so that adding it subtracts; it
 * may be off by one whole unit.
 */
SL_HD uint64_t sl_fixed_weight(float weight)
{
	return (uint64_t)(int64_t)sl_weight_units(weight);
}

/* The square of a weight in the same units. */
SL_HD uint64_t sl_fixed_square(float weight)
{
	return sl_fixed_weight(weight * weight);
}

#endif
