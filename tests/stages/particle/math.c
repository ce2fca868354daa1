/*
 * math.c - compares log, exp, atan, sin and cos with the double-precision functions of the C library.
 *
 * Tests every 67th float or a share of them (cases/sampling.h), the limits, and the inputs with the
 * largest errors, which are recorded in data/reference/math/ulp.txt. With SLUICE_ALL=1 in the
 * environment it tests every float and prints the lines of ulp.txt: the largest errors, their
 * inputs, and a digest of all results. The errors of the double functions are below 1e-8 units of
 * the last place of a float.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/particle/digest.h"
#include "stages/particle/math.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"

#define PI 3.14159265358979323846

enum { STRIDE = 67 };

static float sine(float x)
{
	float s, c;

	sl_sincospi(x, &s, &c);
	return s;
}

static float cosine(float x)
{
	float s, c;

	sl_sincospi(x, &s, &c);
	return c;
}

static float angle(float x)
{
	return sl_atan2_f32(x, 1.0f);
}

/*
 * sin(pi (x + quarter / 2)) in the range of sl_sincospi(), by the exact distance from the nearest
 * multiple of 1/2.
 */
static double turned(double x, long long quarter)
{
	double n = rint(2 * x), t = PI * (x - n / 2);
	long long quadrant;

	if (!(fabs(x) <= 0x1p+22))
		return NAN;
	quadrant = ((long long)n + quarter) & 3;
	t = quadrant & 1 ? cos(t) : sin(t);
	return quadrant & 2 ? -t : t;
}

static double want_sine(double x)
{
	return turned(x, 0);
}

static double want_cosine(double x)
{
	return turned(x, 1);
}

static const struct function {
	const char *name;
	float (*ours)(float x);
	double (*want)(double x);
	double ulp; /* what math.h promises */
} functions[] = {
	{"log", sl_log, log, SL_LOG_ULP},
	{"exp", sl_exp, exp, SL_EXP_ULP},
	{"atan", angle, atan, SL_ATAN_ULP},
	{"sin", sine, want_sine, SL_SINCOSPI_ULP},
	{"cos", cosine, want_cosine, SL_SINCOSPI_ULP},
};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/*
 * Error of got in units of the last place of want, at least 2^-149; HUGE_VAL if only one is NaN or
 * infinite.
 */
static double error_of(float got, double want)
{
	const double overflow = 0x1.ffffffp+127; /* from here on rounds to infinity */

	if (isnan(want))
		return sl_bits(got) == SL_NAN_BITS ? 0 : HUGE_VAL;
	if (isnan(got))
		return HUGE_VAL;
	if (fabs(want) >= overflow)
		return (double)got == copysign(HUGE_VAL, want) ? 0 : HUGE_VAL;
	return ldexp(fabs((double)got - want), 23 - (int)fmax(logb(want), -126));
}

/* The largest error, an input that has it, and a digest of the results. */
struct errors {
	double worst;
	float at;
	uint64_t digest;
};

/* Tests every stride-th float. */
static struct errors measure(const struct function *f, uint64_t stride)
{
	struct errors e = {.worst = 0};

	for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
		float x = sl_float((uint32_t)bits), got = f->ours(x);
		double error = error_of(got, f->want(x));

		if (error > e.worst) {
			e.worst = error;
			e.at = x;
		}
		e.digest += sl_digest_mix(bits, sl_bits(got));
	}
	return e;
}

TEST(errors_are_below_the_bounds)
{
	const bool all = getenv("SLUICE_ALL") != NULL;

	for (int i = 0; i < N_FUNCTIONS; i++) {
		struct errors s = measure(&functions[i], all ? 1 : sl_sampling_step(STRIDE));

		print_message("%s %.4f %a %016llx\n", functions[i].name, s.worst, (double)s.at,
			(unsigned long long)s.digest);
		assert_true(s.worst <= functions[i].ulp);
	}
}

/* ulp.txt: NAME ERROR INPUT DIGEST. The error is reproduced and below the documented bound. */
static void check_recorded(const char *line)
{
	char name[16];
	double error;
	float at;

	assert_int_equal(3, sscanf(line, "%15s %lf %a", name, &error, &at));
	for (int i = 0; i < N_FUNCTIONS; i++)
		if (strcmp(functions[i].name, name) == 0) {
			double now = error_of(functions[i].ours(at), functions[i].want(at));

			assert_true(fabs(now - error) < 1e-3);
			assert_true(now <= functions[i].ulp);
			return;
		}
	fail_msg("ulp.txt names the unknown function %s", name);
}

TEST(recorded_worst_errors_are_reproduced)
{
	FILE *f = open_source("data/reference/math/ulp.txt");
	char line[LINE_BYTES];
	int n = 0;

	for (; next_line(f, line); n++)
		check_recorded(line);
	fclose(f);
	assert_int_equal(N_FUNCTIONS, n);
}

/* Angles are limited to 2^22. */
TEST(limits)
{
	static const struct {
		float (*f)(float x);
		uint32_t in, out;
	} rows[] = {{sl_log, 0, 0xff800000u}, {sl_log, 0x80000000u, 0xff800000u},
		{sl_log, 0x80000001u, SL_NAN_BITS}, {sl_log, 0xff800000u, SL_NAN_BITS},
		{sl_log, 0xffc12345u, SL_NAN_BITS}, {sl_log, 0x7f812345u, SL_NAN_BITS},
		{sl_log, SL_INFINITY_BITS, SL_INFINITY_BITS}, {sl_log, 0x3f800000u, 0},
		{sine, 0x4a800000u, 0}, {cosine, 0xca800000u, 0x3f800000u},
		{sine, 0x4a800001u, SL_NAN_BITS}, {cosine, 0xca800001u, SL_NAN_BITS},
		{sine, 0x4b800000u, SL_NAN_BITS}, {cosine, 0xcb800000u, SL_NAN_BITS},
		{sine, SL_INFINITY_BITS, SL_NAN_BITS}, {cosine, 0xff800000u, SL_NAN_BITS},
		{sine, 0xff812345u, SL_NAN_BITS}, {cosine, 0x7f812345u, SL_NAN_BITS}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (sl_bits(rows[i].f(sl_float(rows[i].in))) != rows[i].out)
			fail_msg("row %zu: %08x", i, sl_bits(rows[i].f(sl_float(rows[i].in))));
}

/* All multiples of 1/2 give exact results. */
TEST(quarter_turns_are_exact)
{
	const float exact[4] = {0, 1, 0, -1};

	for (int64_t i = -(1 << 23); i <= 1 << 23; i += i > -1000 && i < 1000 ? 1 : 1009) {
		float x = 0.5f * (float)i;

		assert_true(sine(x) == exact[i & 3]);
		assert_true(cosine(x) == exact[(i + 1) & 3]);
	}
}
