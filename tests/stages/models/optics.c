/*
 * optics.c - tests reflection, refraction and scattering against formulas in double: at critical
 * angles, at poles and at the limits of ranges.
 */
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/models/optics.h"

/* --- Fresnel and Snell ------------------------------------------------------------------------ */

/* Reflectance of unpolarised light from index n to index m at an angle of cosine c. */
static double want_fresnel(double n, double m, double c)
{
	double sine = n / m * sqrt(1 - c * c), t = sqrt(1 - sine * sine), s, p;

	if (sine >= 1)
		return 1;
	s = (n * c - m * t) / (n * c + m * t);
	p = (n * t - m * c) / (n * t + m * c);
	return (s * s + p * p) / 2;
}

/* A direction may be an ulp too long: then 1 - c^2 is below 0. */
TEST(fresnel_beyond_a_cosine_of_1)
{
	float t;

	assert_true(fabsf(sl_fresnel(1.0f, 1.5f, 1 + 0x1p-22f, &t) - 0.04f) < 1e-6f);
	sl_fresnel(1.5f, 1.0f, 1 + 0x1p-22f, &t);
	assert_true(t >= 1.0f && t < 1.000001f);
}

TEST(fresnel_about_the_critical_angle)
{
	const double critical = sqrt(1 - 1 / 2.25);
	float t;

	for (int i = 1; i < 1000; i++) {
		assert_true(sl_fresnel(1.5f, 1.0f, (float)(critical - 1e-6 * i), &t) == 1.0f);
		assert_true(t == 0.0f);
		assert_true(sl_fresnel(1.5f, 1.0f, (float)(critical + 1e-6 * i), &t) < 1.0f);
		assert_true(t > 0.0f);
	}
}

TEST(fresnel_against_double)
{
	const double indices[] = {0.1, 0.5, 0.99, 1, 1.000001, 1.33, 1.5, 2.4, 10};
	const int n = sizeof(indices) / sizeof(indices[0]);
	double worst = 0;

	for (int i = 0; i < n * n; i++)
		for (int k = 0; k <= 1000; k++) {
			float a = (float)indices[i / n], b = (float)indices[i % n], t;
			float c = (float)k / 1000, got = sl_fresnel(a, b, c, &t);
			double want =
				i / n == i % n ? 0 : want_fresnel((double)a, (double)b, (double)c);
			/* near the critical angle the reflectance falls from 1 as a square root */
			double error = fabs((double)got - want) * fmax((double)t, 1e-3);

			assert_true(got >= 0.0f && got <= 1.000001f);
			worst = fmax(worst, error);
		}
	print_message("reflectance: largest error %.2g\n", worst);
	assert_true(worst < 5e-6);
}

TEST(refraction_obeys_snell)
{
	for (int k = 0; k < 2000; k++) {
		float a = k % 2 ? 1.0f : 1.5f, b = k % 2 ? 1.5f : 1.0f, t;
		double w = 1 - 0.25 * k / 2000, s = sqrt(1 - w * w), turn = 0.1 * k;
		struct sl_particle p = {.u = (float)(s * cos(turn)),
			.v = (float)(s * sin(turn)),
			.w = (float)(k % 3 ? w : -w)};
		struct sl_particle q = p;

		sl_fresnel(a, b, fabsf(p.w), &t);
		sl_refract(&q, a / b, t);
		assert_true(fabs(excess_length(&q)) < 2e-6);
		assert_true(fabsf(b * q.u - a * p.u) < 1e-6f && fabsf(b * q.v - a * p.v) < 1e-6f);
		assert_true(q.w * p.w > 0.0f);
	}
}

/* --- scattering ------------------------------------------------------------------------------- */

/* Cosine of the scattering angle for a uniform number and the asymmetry g. */
static float scatter(double g, float uniform)
{
	return sl_henyey_greenstein((float)g, (float)(2 * (1 + g) * (1 + g)), uniform);
}

/* The inverse in the textbook form: (1 + g^2 - ((1 - g^2) / (1 - g + 2 g u))^2) / 2 g. */
static double want_scatter(double g, double u)
{
	double q = (1 - g * g) / (1 - g + 2 * g * u);

	return (1 + g * g - q * q) / (2 * g);
}

/* Error of the cosine in units of the last place of u; the function is steep for g near 1 or -1. */
static double scatter_error(double g, float u, float c)
{
	double s = 1 - g + 2 * g * (double)u, slope = 2 * pow((1 - g * g) / s, 2) / s;

	return fabs((double)c - want_scatter(g, (double)u)) / (slope + 2) * 0x1p24;
}

TEST(isotropic_scattering_is_exact)
{
	for (uint64_t word = 0; word <= UINT32_MAX; word += 9973) {
		float u = sl_uniform((uint32_t)word);

		assert_true(scatter(0, u) == fmaf(2.0f, u, -1.0f));
	}
}

TEST(scattering_reaches_both_limits)
{
	const double g[] = {-0.999, -0.9, -1e-7, 0, 1e-30, 1e-7, 0.75, 0.9, 0.999};

	for (size_t i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		assert_true(fabsf(scatter(g[i], 0x1p-33f) + 1.0f) < 3e-4f);
		assert_true(fabsf(scatter(g[i], 1.0f) - 1.0f) < 3e-4f);
		for (uint64_t word = 0; word <= UINT32_MAX; word += 99991) {
			float c = scatter(g[i], sl_uniform((uint32_t)word));

			assert_true(c >= -1.0f && c <= 1.0f);
		}
	}
}

TEST(scattering_has_its_mean_and_distribution)
{
	const double g[] = {-0.999, -0.9, -0.3, 0.1, 0.75, 0.9, 0.99, 0.999};
	enum { N = 1 << 20 };

	for (size_t i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		double sum = 0, worst = 0;

		for (int k = 0; k < N; k++) {
			float u = ((float)k + 0.5f) / N, c = scatter(g[i], u);

			sum += (double)c;
			worst = fmax(worst, scatter_error(g[i], u, c));
		}
		print_message(
			"g %6.3f: mean %+.1e, cosine within %.1f\n", g[i], sum / N - g[i], worst);
		assert_true(fabs(sum / N - g[i]) < 1e-6);
		assert_true(worst < 8);
	}
}

TEST(a_million_scatterings_keep_the_length)
{
	struct sl_particle p = {.w = 1};
	double longest = 0, worst = 0;

	for (uint64_t k = 0; k < 1000000; k++) {
		struct sl_words random = sl_draw(5, 0, k);
		struct sl_particle old = p;
		float c = scatter(k % 2 ? 0.9 : -0.5, sl_uniform(random.at[0]));

		sl_scatter(&p, c, 2.0f * sl_uniform(random.at[1]));
		longest = fmax(longest, fabs(excess_length(&p)));
		worst = fmax(worst, fabs(cosine_between(&p, &old) - (double)c));
	}
	print_message("|direction|^2 within %.2g of 1, cosines within %.2g\n", longest, worst);
	assert_true(longest < 4 * 0x1p-23);
	assert_true(worst < 8 * 0x1p-24);
}

static const struct sl_particle poles[] = {{.w = 1}, {.w = -1}, {.u = 1}, {.v = -1},
	{.u = 1, .w = -0.0f}, {.u = -1, .w = 0x1p-149f}, {.v = 1, .w = -0x1p-149f},
	{.u = 0x1.6a09e6p-12f, .w = -0x1.fffffep-1f}, {.u = 0x1.6a09e6p-12f, .w = 0x1.fffffep-1f},
	{.v = 1e-20f, .w = -1}};

/* c = 1 keeps the direction, c = -1 reverses it; the mean over all azimuths is along the old one. */
TEST(scattering_at_the_poles)
{
	for (size_t i = 0; i < sizeof(poles) / sizeof(poles[0]); i++) {
		struct sl_particle p = poles[i];
		double u = 0, v = 0, w = 0;

		sl_scatter(&p, 1.0f, 0.7f);
		assert_true(fabs(cosine_between(&p, &poles[i]) - 1) < 1e-6);
		sl_scatter(&p, -1.0f, 1.3f);
		assert_true(fabs(cosine_between(&p, &poles[i]) + 1) < 1e-6);
		for (int k = 0; k < 1000; k++) {
			p = poles[i];
			sl_scatter(&p, 0.25f, (float)k / 500);
			assert_true(fabs(excess_length(&p)) < 1e-6);
			assert_true(fabs(cosine_between(&p, &poles[i]) - 0.25) < 1e-6);
			u += (double)p.u / 1000;
			v += (double)p.v / 1000;
			w += (double)p.w / 1000;
		}
		assert_true(fabs(u - 0.25 * (double)poles[i].u) < 1e-6);
		assert_true(fabs(v - 0.25 * (double)poles[i].v) < 1e-6);
		assert_true(fabs(w - 0.25 * (double)poles[i].w) < 1e-6);
	}
}
