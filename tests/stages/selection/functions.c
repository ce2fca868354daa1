/*
 * functions.c - compares the functions of derived columns with those of the C library in extended
 * precision, after rounding to a float; the special values with those of C.
 *
 * Functions of one argument are tested for every 997th float, with --all for each; functions of two for
 * random floats of all magnitudes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/particle/random.h"
#include "stages/selection/derivation.h"
#include "tests/support/basic/check.h"

enum { STRIDE = 997, PAIRS = 1 << 20 };

static uint32_t stride = STRIDE;

/* The error of found, in units in the last place of the float nearest to want. */
static double ulps(float found, long double want)
{
	float nearest = (float)want;
	int exponent;

	if (isinf(nearest) || isnan(nearest))
		return sl_bits(found) == sl_bits(nearest) || (isnan(found) && isnan(nearest)) ? 0
		                                                                              : 1e9;
	frexpf(nearest, &exponent);
	exponent = exponent < -125 ? -125 : exponent;
	return (double)fabsl(((long double)found - want) / ldexpl(1, exponent - 24));
}

static void expect_error(const char *name, double worst, float a, float b)
{
	print_message("%s: %.7f ulp, for %a and %a\n", name, worst, (double)a, (double)b);
	if (!(worst <= SL_FUNCTION_ULP))
		fail_msg("%s(%a, %a) has an error of %.7f ulp", name, (double)a, (double)b, worst);
}

/* --- one argument ----------------------------------------------------------------------------- */

static void expect_one(const char *name, double (*f)(double), long double (*want)(long double))
{
	double worst = 0;
	float at = 0;

	for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
		float x = sl_float((uint32_t)bits);
		double error = ulps(sl_derived_value(f((double)x)), want((long double)x));

		if (!(error <= worst)) {
			worst = error;
			at = x;
		}
	}
	expect_error(name, worst, at, 0);
}

static double root(double x)
{
	return sl_derivation_operate(SL_FN_sqrt, 0, 0, x);
}

TEST(functions_of_one_argument_are_accurate)
{
	expect_one("log", sl_log_double, logl);
	expect_one("exp", sl_exp_double, expl);
	expect_one("sqrt", root, sqrtl);
}

/* --- two arguments ---------------------------------------------------------------------------- */

/* A float of any magnitude; of near ones if spread is small. */
static float random_float(uint32_t word, uint32_t other, int spread)
{
	float x = ldexpf(1 + sl_uniform(word), (int)(other >> 1) % (2 * spread + 1) - spread);

	return other & 1 ? -x : x;
}

static void expect_two(const char *name, double (*f)(double, double),
	long double (*want)(long double, long double), int spread, bool positive)
{
	double worst = 0;
	float at_a = 0, at_b = 0;

	for (uint64_t i = 0; i < PAIRS; i++) {
		struct sl_words w = sl_draw(7, i, 0);
		float a = random_float(w.at[0], w.at[1] % 1000003, spread);
		float b = random_float(w.at[2], w.at[3] % 1000003, spread);
		double error;

		a = positive ? fabsf(a) : a;
		error = ulps(sl_derived_value(f((double)a, (double)b)),
			want((long double)a, (long double)b));
		if (!(error <= worst)) {
			worst = error;
			at_a = a;
			at_b = b;
		}
	}
	expect_error(name, worst, at_a, at_b);
}

TEST(functions_of_two_arguments_are_accurate)
{
	expect_two("hypot", sl_hypot, hypotl, 120, false);
	expect_two("hypot", sl_hypot, hypotl, 2, false);
	expect_two("atan2", sl_atan2, atan2l, 60, false);
	expect_two("atan2", sl_atan2, atan2l, 3, false);
	expect_two("pow", sl_pow, powl, 2, true);
	expect_two("pow", sl_pow, powl, 5, true);
}

/* --- special values --------------------------------------------------------------------------- */

static void expect_same(const char *name, double found, double want)
{
	if (isnan(found) && isnan(want))
		return;
	if (sl_double_bits(found) != sl_double_bits(want))
		fail_msg("%s: %a, and not %a", name, found, want);
}

TEST(special_values_are_those_of_c)
{
	static const double special[] = {
		0.0, -0.0, 1, -1, 1e308, 0x1p-1060, -2.5, INFINITY, -INFINITY, NAN};
	const size_t n = sizeof(special) / sizeof(special[0]);

	for (size_t i = 0; i < n; i++) {
		double a = special[i];

		if (isnan(a) || isinf(a) || a == 0) {
			expect_same("log", sl_log_double(a), log(a));
			expect_same("exp", sl_exp_double(a), exp(a));
		}
		for (size_t k = 0; k < n; k++) {
			double b = special[k], edge = atan2(a, b);

			if (fabs(sl_atan2(a, b) - edge) > 4e-16 ||
				signbit(sl_atan2(a, b)) != signbit(edge))
				fail_msg("atan2(%g, %g): %a, and not %a", a, b, sl_atan2(a, b),
					edge);
			if (!(a < 0) && (isnan(a + b) || isinf(a) || isinf(b) || a == 0 || b == 0))
				expect_same("pow", sl_pow(fabs(a), b), pow(fabs(a), b));
		}
	}
	assert_true(isnan(sl_pow(-1, 2)) && isnan(sl_log_double(-1)));
	assert_true(sl_exp_double(1000) == (double)INFINITY && sl_exp_double(-1000) == 0);
	assert_true(fabs(sl_log_double(0x1p-1060) + 1060 * log(2.0)) < 1e-12);
	assert_true(
		sl_min(1, 2) == 1 && sl_max(1, 2) == 2 && sl_min(2, 1) == 1 && sl_max(2, 1) == 2);
	assert_true(isnan(sl_min(1, (double)NAN)) && isnan(sl_min((double)NAN, 1)));
	assert_true(isnan(sl_max(1, (double)NAN)) && isnan(sl_max((double)NAN, 1)));
	assert_int_equal(sl_bits(sl_derived_value(-(double)NAN)), SL_NAN_BITS);
}

/* A thermal neutron of 25.3 meV has 1.798 angstrom, a photon of 12.398 keV has 1 angstrom. */
TEST(wavelengths_are_those_of_the_literature)
{
	assert_true(fabs(sl_wavelength(25.3e-6, sl_rest_energy(2112)) - 1.798157e-8) < 1e-14);
	assert_true(fabs(sl_wavelength(12.398419843320, sl_rest_energy(22)) - 1e-8) < 1e-19);
	assert_true(fabs(sl_wavelength(100, sl_rest_energy(-11)) - 3.70144e-10) < 1e-15);
	assert_true(isnan(sl_rest_energy(2000000101)));
}

TEST_FILE(argc, argv)
{
	if (argc > 1 && strcmp(argv[1], "--all") == 0)
		stride = 1;
	return run_test_file(argv[0]);
}
