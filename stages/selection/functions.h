/*
 * functions.h - the functions of derived columns, with the same bits from gcc, clang and nvcc.
 *
 * They take and return doubles, and use only +, -, *, /, sqrt, fma, comparisons and integers, each
 * of which IEEE 754 rounds in exactly one way. A derived column is rounded to a float, so the tests
 * compare rounded results: for arguments that are floats, the error of each function is at most
 * SL_FUNCTION_ULP units in the last place of that float (tests/stages/selection/functions).
 *
 * The series are Taylor series, on intervals so short that the first omitted term is below the
 * precision of a double. There are no branches, so that the loops of the host are vectorised.
 * Infinities and zeros give what C gives; NaN gives NaN, except pow(NaN, 0).
 */
#ifndef SL_STAGES_SELECTION_FUNCTIONS_H
#define SL_STAGES_SELECTION_FUNCTIONS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "primitives/base/hd.h"

/* The largest error after rounding to a float: 0.5 is that of the rounding. */
#define SL_FUNCTION_ULP 0.500001

#define SL_PI 0x1.921fb54442d18p+1

SL_HD double sl_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

SL_HD uint64_t sl_double_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

SL_HD double sl_infinity(void)
{
	return sl_double(UINT64_C(0x7ff) << 52);
}

SL_HD double sl_not_a_number(void)
{
	return sl_double(UINT64_C(0x7ff8) << 48);
}

SL_HD bool sl_is_negative(double x)
{
	return sl_double_bits(x) >> 63 != 0;
}

/* Both NaN if one is. */
SL_HD double sl_min(double a, double b)
{
	return a < b || a != a ? a : b;
}

SL_HD double sl_max(double a, double b)
{
	return a > b || a != a ? a : b;
}

/* Squares of floats neither overflow nor underflow in double precision. */
SL_HD double sl_hypot(double a, double b)
{
	return sqrt(fma(a, a, b * b));
}

/*
 * The natural logarithm. x = m * 2^e with m in [sqrt(1/2), sqrt(2)), so that e is 0 near 1, and
 * log(m) = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1), |s| < 0.172.
 */
SL_HD_PART double sl_log_double(double x)
{
	bool tiny = x < 0x1p-1022; /* denormal: use the scaled value */
	uint64_t bits = sl_double_bits(tiny ? x * 0x1p+54 : x);
	/* the exponent as the low bits of a double from 2^52 to 2^53 */
	double biased = sl_double((bits >> 52 & 0x7ff) | UINT64_C(0x433) << 52) - 0x1p+52;
	double m = sl_double((bits & (UINT64_MAX >> 12)) | UINT64_C(1023) << 52);
	bool high = m >= 0x1.6a09e667f3bcdp+0;
	double e = biased - (tiny ? 1023.0 + 54 : 1023.0) + (high ? 1.0 : 0.0);
	double half = high ? m * 0.5 : m, s = (half - 1) / (half + 1), s2 = s * s, sum = 2.0 / 21;

	for (int k = 19; k >= 3; k -= 2)
		sum = fma(sum, s2, 2.0 / k);
	sum = fma(s * s2, sum, e * 0x1.abc9e3b39803fp-56 /* log(2) below the next number */);
	sum = fma(e, 0x1.62e42fefa39efp-1, fma(2.0, s, sum));
	sum = x == sl_infinity() ? x : sum;
	sum = x == 0 ? -sl_infinity() : sum;
	return x >= 0 ? sum : sl_not_a_number();
}

/*
 * The exponential: x = k log(2) + r with |r| < 0.35. The bits of a number from 2^52 to 2^53 end
 * with the whole number nearest to x / log(2). 2^k is multiplied in two steps, because it can be
 * out of range.
 */
SL_HD_PART double sl_exp_double(double x)
{
	double in_range = x > 710 ? 710.0 : x < -746 ? -746.0 : x; /* NaN stays */
	double shifted = fma(in_range, 0x1.71547652b82fep+0, 0x1.8p+52), k = shifted - 0x1.8p+52;
	double r = fma(-k, 0x1.abc9e3b39803fp-56, fma(-k, 0x1.62e42fefa39efp-1, in_range));
	uint64_t power = sl_double_bits(shifted) - sl_double_bits(0x1.8p+52) + 2046;
	uint64_t first = power >> 1, second = power - first; /* both with the bias 1023 */
	double sum = 1;

	for (int n = 14; n >= 1; n--)
		sum = fma(sum * r, 1.0 / n, 1.0);
	sum = sum * sl_double(first << 52) * sl_double(second << 52);
	return x == x ? sum : sl_not_a_number();
}

/*
 * The angle of (x, y) from the x axis, from -pi to pi. The smaller magnitude by the larger is the
 * tangent t of an angle up to pi/4, and atan(t) = atan(c) + atan((t - c) / (1 + c t)) with the
 * multiple c of 1/4 nearest to t, which leaves a tangent of at most 1/8 for the series.
 */
SL_HD_PART double sl_atan2(double y, double x)
{
	double ax = fabs(x), ay = fabs(y), large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
	double infinity = sl_infinity();
	bool endless = large == infinity;
	double least = endless ? (small == infinity ? 1.0 : 0.0) : small;
	double most = endless || large == 0 ? 1.0 : large;
	double c = (fma(4.0, least / most, 0x1.8p+52) - 0x1.8p+52) * 0.25;
	double d = fma(-c, most, least) / fma(c, least, most), d2 = d * d, sum = -1.0 / 19, angle;

	for (int k = 17; k >= 3; k -= 2)
		sum = fma(sum, d2, (k & 2 ? -1.0 : 1.0) / k);
	angle = fma(d * d2, sum, d);
	sum = c > 0.125 ? 0x1.f5b75f92c80ddp-3 : 0.0; /* atan(1/4) */
	sum = c > 0.375 ? 0x1.dac670561bb4fp-2 : sum; /* atan(1/2) */
	sum = c > 0.625 ? 0x1.4978fa3269ee1p-1 : sum; /* atan(3/4) */
	sum = c > 0.875 ? 0x1.921fb54442d18p-1 : sum; /* atan(1) */
	angle += sum;
	angle = ay > ax ? SL_PI / 2 - angle : angle;
	angle = sl_is_negative(x) ? SL_PI - angle : angle;
	angle = sl_is_negative(y) ? -angle : angle;
	return x == x && y == y ? angle : sl_not_a_number();
}

/*
 * x to a real power, for x >= 0; a negative x gives NaN. The error relative to the result is that
 * of the product, which is below 1e-13 where the result is a normal float.
 */
SL_HD_PART double sl_pow(double x, double power)
{
	double result = sl_exp_double(power * sl_log_double(x));

	return power == 0 || x == 1 ? 1.0 : result;
}

/*
 * The rest energy in keV of a particle by its code of the Particle Data Group; NaN if the code is
 * not in the list. (CODATA 2018; pions and kaons: Particle Data Group 2022.)
 */
SL_HD double sl_rest_energy(double pdg)
{
	switch ((int)fabs(pdg)) {
	case 22:
	case 12:
	case 14:
	case 16:
		return 0;
	case 11:
		return 510.99895;
	case 13:
		return 105658.3755;
	case 111:
		return 134976.8;
	case 211:
		return 139570.39;
	case 321:
		return 493677;
	case 2112:
		return 939565.42052;
	case 2212:
		return 938272.08816;
	case 1000010020:
		return 1875612.94257;
	case 1000010030:
		return 2808921.13298;
	case 1000020030:
		return 2808391.60743;
	case 1000020040:
		return 3727379.4066;
	default:
		return sl_not_a_number();
	}
}

/*
 * The wavelength in cm of a particle with a kinetic and a rest energy in keV: h / p, with
 * p c = sqrt(E (E + 2 m c^2)). For photons that is h c / E.
 */
SL_HD double sl_wavelength(double energy, double rest)
{
	return 1.2398419843320027e-7 /* h c */ / sqrt(energy * fma(2.0, rest, energy));
}

#endif
