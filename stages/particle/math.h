/*
 * math.h - log, exp, sin, cos and atan2 with the same bits from gcc, clang and nvcc.
 *
 * The functions of C and CUDA libraries differ between host and device and between versions. These
 * use only +, -, *, fmaf, comparisons and integers, each of which IEEE 754 rounds in exactly one
 * way. No product is added in plain form, so that a compiler that contracts a * b + c finds nothing
 * to contract. The functions are on the critical path of the innermost loop: they have no branches,
 * and long polynomials are split as by Estrin (Organization of computer systems, Western Joint
 * Computer Conference 1960), which halves the depth of Horner's rule. The coefficients are derived
 * by data/reference/math/NAME.sollya; tests/stages/particle/math measures the errors, which
 * data/reference/math/ulp.txt records.
 *
 * The code assumes rounding to nearest, gradual underflow and evaluation in binary32: the defaults
 * of the three compilers on 64-bit machines. A NaN argument gives the NaN with the bits
 * SL_NAN_BITS.
 */
#ifndef SL_STAGES_PARTICLE_MATH_H
#define SL_STAGES_PARTICLE_MATH_H

#include "stages/particle/lanes.h"

#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#error "results need IEEE binary32 arithmetic: compile without -ffast-math and without x87"
#endif

/* The largest errors over all floats, in units in the last place (ulp) of the result. */
#define SL_LOG_ULP      0.92
#define SL_SINCOSPI_ULP 0.97 /* of sin, for denormals; of cos 0.89 */
#define SL_EXP_ULP      1.08
#define SL_ATAN_ULP     2.9 /* of sl_atan2_f32(x, 1) */

/* Bit patterns of floats. */
#define SL_NAN_BITS      0x7fc00000u /* the only NaN that the functions return */
#define SL_INFINITY_BITS 0x7f800000u
#define SL_SIGN_BIT      0x80000000u

/* log(1 + f) for f in [-1/3, 1/3], as f - f^2/2 + f^3 * polynomial of degree 8. */
SL_HD sl_f32 sl_log_near_one(sl_f32 f)
{
	sl_f32 f2 = f * f, f4 = f2 * f2;
	sl_f32 a = fmaf(f, -0x1.ffffb4p-3f, 0x1.555556p-2f);
	sl_f32 b = fmaf(f, -0x1.55788ep-3f, 0x1.999816p-3f);
	sl_f32 c = fmaf(f, -0x1.f74aaap-4f, 0x1.24e842p-3f);
	sl_f32 d = fmaf(f, -0x1.fd1b86p-4f, 0x1.b92aa6p-4f);

	d = fmaf(f2, 0x1.ea92cap-4f, d);
	a = fmaf(f2, b, a);
	c = fmaf(f2, d, c);
	a = fmaf(f4, c, a);
	return fmaf(f2, fmaf(f, a, -0.5f), f);
}

/*
 * The natural logarithm. 0 gives -infinity, a negative number gives NaN. x = m * 2^e with m in
 * [2/3, 4/3), so that e is 0 near 1, where the result is small and must not suffer cancellation.
 */
SL_HD sl_f32 sl_log(sl_f32 x)
{
	sl_mask tiny = x < 0x1p-126f; /* denormal: use the scaled value */
	sl_u32 bits = sl_bits(sl_select(tiny, x * 0x1p+23f, x));
	sl_u32 biased =
		(bits + (0x3f800000u - 0x3f2aaaabu)) >> 23; /* bits of 1 minus bits of 2/3 */
	sl_f32 e = sl_f32_of((sl_i32)(biased - sl_select_u32(tiny, 127u + 23u, 127u)));
	sl_f32 m = sl_float(bits - (biased << 23) + 0x3f800000u);
	sl_f32 y = fmaf(e, 0x1.62e43p-1f, sl_log_near_one(m - 1.0f));

	y = sl_select(x < sl_float(SL_INFINITY_BITS), y, x);
	y = sl_select(x > 0.0f, y, sl_float(SL_INFINITY_BITS | SL_SIGN_BIT));
	return sl_select(x >= 0.0f, y, sl_float(SL_NAN_BITS));
}

/*
 * The exponential: x = k log(2) + r with |r| < 0.35, and the Taylor series of exp(r), whose first
 * omitted term is below 0.1 ulp. 2^k is multiplied in two steps, because it can be out of range.
 */
SL_HD sl_f32 sl_exp(sl_f32 x)
{
	sl_f32 in_range =
		sl_select(x > 89.0f, sl_all(89.0f), sl_select(x < -104.0f, sl_all(-104.0f), x));
	sl_f32 shifted = fmaf(in_range, 0x1.715476p+0f, 0x1.8p+23f), k = shifted - 0x1.8p+23f;
	sl_f32 r = fmaf(k, 0x1.05c61p-29f, fmaf(k, -0x1.62e43p-1f, in_range)), r2 = r * r;
	sl_u32 power = sl_bits(shifted) - 0x4b400000u + 254u, first = power >> 1;
	sl_f32 a = fmaf(r, 0x1.555556p-3f, 0.5f), b = fmaf(r, 0x1.111112p-7f, 0x1.555556p-5f);
	sl_f32 c = fmaf(r, 0x1.a01a02p-13f, 0x1.6c16c2p-10f);

	a = fmaf(r2, fmaf(r2, c, b), a);
	a = fmaf(r2, a, r) + 1.0f;
	a = a * sl_float(first << 23) * sl_float((power - first) << 23);
	return sl_select(x == x, a, sl_float(SL_NAN_BITS));
}

/*
 * Sets *s = sin(pi x) and *c = cos(pi x) for |x| <= 2^22; both are NaN beyond. h is the multiple of
 * 1/2 nearest to |x|, and 2 h modulo 4 is the quadrant. One addition gives both, because the floats
 * from 2^22 to 2^23 are the multiples of 1/2. The quadrant swaps and negates the results by bit
 * operations: a branch would be mispredicted half of the time. A zero may have either sign.
 */
SL_HD void sl_sincospi(sl_f32 x, sl_f32 *s, sl_f32 *c)
{
	sl_f32 magnitude = fabsf(x), shifted = magnitude + 0x1p+22f, h = shifted - 0x1p+22f;
	sl_f32 t = magnitude - h, t2 = t * t, t3 = t * t2;
	sl_f32 low = t * -0x1.777a5cp-24f; /* the part of pi below the precision of a float */
	sl_f32 a = fmaf(t2, fmaf(t2, 0x1.3ef73ep-4f, -0x1.329de8p-1f), 0x1.466b62p+1f);
	sl_f32 b = fmaf(t2, fmaf(t2, 0x1.d09344p-3f, -0x1.55a5bp+0f), 0x1.03c19ep+2f);

	a = fmaf(t3, fmaf(t2, a, -0x1.4abbcep+2f), low);
	b = fmaf(t2, b, -0x1.3bd3ccp+2f);

	sl_u32 sine = sl_bits(fmaf(t, 0x1.921fb6p+1f, a)), cosine = sl_bits(fmaf(t2, b, 1.0f));
	sl_u32 quadrant = sl_bits(shifted) & 3, odd = quadrant & 1;
	sl_u32 swap = (sine ^ cosine) & (0u - odd);
	sl_mask in_range = magnitude <= 0x1p+22f;

	sine ^= swap ^ (quadrant & 2) << 30 ^ (sl_bits(x) & SL_SIGN_BIT);
	cosine ^= swap ^ ((quadrant + 1) & 2) << 30;
	*s = sl_select(in_range, sl_float(sine), sl_float(SL_NAN_BITS));
	*c = sl_select(in_range, sl_float(cosine), sl_float(SL_NAN_BITS));
}

/*
 * The angle of (x, y) from the x axis, from -pi to pi; 0 for (0, 0). The smaller magnitude by the
 * larger is the tangent t of an angle up to pi/4; from tan(pi/8) on, of pi/4 less that of
 * (1 - t)/(1 + t). The polynomial is that of S. L. Moshier, Cephes, atanf.
 */
SL_HD sl_f32 sl_atan2_f32(sl_f32 y, sl_f32 x)
{
	sl_f32 ax = fabsf(x), ay = fabsf(y);
	sl_mask steep = ay > ax, zero;
	sl_f32 most = sl_select(steep, ay, ax), least = sl_select(steep, ax, ay);
	sl_mask wide = least > most * 0x1.a8279ap-2f;
	sl_f32 below = sl_select(wide, most + least, most), t, t2, a;

	zero = most == 0.0f;
	t = sl_select(wide, least - most, least) / sl_select(zero, sl_all(1.0f), below);
	t2 = t * t;
	a = fmaf(fmaf(fmaf(t2, 8.05374449538e-2f, -1.38776856032e-1f), t2, 1.99777106478e-1f), t2,
		-3.33329491539e-1f);
	a = fmaf(a * t2, t, t);
	a = sl_select(wide, a + 0x1.921fb6p-1f, a);
	a = sl_select(steep, 0x1.921fb6p+0f - a, a);
	a = sl_select((sl_bits(x) & SL_SIGN_BIT) != 0, 0x1.921fb6p+1f - a, a);
	a = sl_float(sl_bits(a) ^ (sl_bits(y) & SL_SIGN_BIT));
	return sl_select((x == x) & (y == y), a, sl_float(SL_NAN_BITS));
}

#endif
