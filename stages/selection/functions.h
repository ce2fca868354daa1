/*
 * functions.h - the functions of derived columns, with the same bits from gcc, clang and nvcc.
 *
 * They take and return doubles, and use only +, -, *, /, sqrt, fma, comparisons and integers, each of
 * which IEEE 754 rounds in exactly one way. A derived column is rounded to a float, so the tests
 * compare rounded results: for arguments that are floats, the error of each function is at most
 * SL_FUNCTION_ULP units in the last place of that float (tests/stages/selection/functions).
 *
 * The series are Taylor series, on intervals so short that the first omitted term is below the
 * precision of a double. Infinities and zeros give what C gives; NaN gives NaN, except pow(NaN, 0).
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
SL_HD double sl_log_double(double x)
{
	bool tiny = x < 0x1p-1022; /* denormal: use the scaled value */
	uint64_t bits = sl_double_bits(tiny ? x * 0x1p+54 : x);
	double e = (double)((int)(bits >> 52) - (tiny ? 1023 + 54 : 1023));
	double m = sl_double((bits & (UINT64_MAX >> 12)) | UINT64_C(1023) << 52);
	bool high = m >= 0x1.6a09e667f3bcdp+0;
	double s, s2, sum;

	if (x != x || x < 0)
		return sl_not_a_number();
	if (x == 0)
		return -sl_infinity();
	if (x == sl_infinity())
		return x;
	m = high ? m * 0.5 : m;
	e = high ? e + 1 : e;
	s = (m - 1) / (m + 1);
	s2 = s * s;
	sum = 2.0 / 21;
	for (int k = 19; k >= 3; k -= 2)
		sum = fma(sum, s2, 2.0 / k);
	sum = fma(s * s2, sum, e * 0x1.abc9e3b39803fp-56 /* log(2) below the next number */);
	return fma(e, 0x1.62e42fefa39efp-1, fma(2, s, sum));
}

/* The exponential: x = k log(2) + r with |r| < 0.35, and 2^k is multiplied in two steps. */
SL_HD double sl_exp_double(double x)
{
	double k, r, sum = 1;
	int half;

	if (x != x)
		return sl_not_a_number();
	if (x > 710)
		return sl_infinity();
	if (x < -746)
		return 0;
	k = fma(x, 0x1.71547652b82fep+0, 0x1.8p+52) - 0x1.8p+52; /* the nearest whole number */
	r = fma(-k, 0x1.62e42fefa39efp-1, x);
	r = fma(-k, 0x1.abc9e3b39803fp-56, r);
	for (int n = 14; n >= 1; n--)
		sum = fma(sum * r, 1.0 / n, 1);
	half = (int)k / 2;
	return sum * sl_double((uint64_t)(1023 + half) << 52) *
	       sl_double((uint64_t)(1023 + ((int)k - half)) << 52);
}

/*
 * The angle of (x, y) from the x axis, from -pi to pi. The smaller magnitude by the larger is the
 * tangent t of an angle up to pi/4, and atan(t) = atan(c) + atan((t - c) / (1 + c t)) with the
 * multiple c of 1/4 nearest to t, which leaves a tangent of at most 1/8 for the series.
 */
SL_HD double sl_atan2(double y, double x)
{
	double ax = fabs(x), ay = fabs(y), most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
	double c, d, d2, sum, angle;

	if (x != x || y != y)
		return sl_not_a_number();
	if (most == sl_infinity())
		least = least == most ? 1 : 0;
	if (most == sl_infinity() || most == 0)
		most = 1;
	c = floor(fma(4, least / most, 0.5)) * 0.25;
	d = fma(-c, most, least) / fma(c, least, most);
	d2 = d * d;
	sum = -1.0 / 19;
	for (int k = 17; k >= 3; k -= 2)
		sum = fma(sum, d2, (k & 2 ? -1.0 : 1.0) / k);
	angle = fma(d * d2, sum, d);
	angle += c < 0.125   ? 0.0
	         : c < 0.375 ? 0x1.f5b75f92c80ddp-3  /* atan(1/4) */
	         : c < 0.625 ? 0x1.dac670561bb4fp-2  /* atan(1/2) */
	         : c < 0.875 ? 0x1.4978fa3269ee1p-1  /* atan(3/4) */
	                     : 0x1.921fb54442d18p-1; /* atan(1) */
	angle = ay > ax ? SL_PI / 2 - angle : angle;
	angle = sl_is_negative(x) ? SL_PI - angle : angle;
	return sl_is_negative(y) ? -angle : angle;
}

/*
 * x to a real power, for x >= 0; a negative x gives NaN. The error relative to the result is that of
 * the product, which is below 1e-13 where the result is a normal float.
 */
SL_HD double sl_pow(double x, double power)
{
	if (power == 0 || x == 1)
		return 1;
	if (x != x || power != power || x < 0)
		return sl_not_a_number();
	return sl_exp_double(power * sl_log_double(x));
}

/*
 * The rest energy in keV of a particle by its code of the Particle Data Group; NaN if the code is not in
 * the list. (CODATA 2018; pions and kaons: Particle Data Group 2022.)
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
	return 1.2398419843320027e-7 /* h c */ / sqrt(energy * fma(2, rest, energy));
}

#endif
