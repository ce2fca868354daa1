/*
 * optics.c - tests reflection, refraction and scattering against formulas in double: at critical
 * angles, at poles and at the limits of ranges.
 */
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/models/common/optics.h"

/* --- Fresnel and Snell ------------------------------------------------------------------------ */

/* Reflectance of unpolarised light from index n to index m at an angle of cosine c. */
static double want_fresnel(double n, double m, double c)
{
	double sine = n / m * sqrt(1 - c * c), t = sqrt(1 - sine * sine), s, p;

	if (sine >= 1 || n == m)
		return n != m;
	s = (n * c - m * t) / (n * c + m * t);
	p = (n * t - m * c) / (n * t + m * c);
	return (s * s + p * p) / 2;
}

/*
 * Returns the error of the reflectance. Near the critical angle this falls from 1 as a square root.
 */
static double check_surface(float n, float m, float c, double turn)
{
	double s = sqrt(fmax(1 - (double)c * (double)c, 0)), sine = (double)n / (double)m * s;
	float t, got = sl_fresnel(n, m, c, &t);
	struct sl_particle p = {.u = (float)(s * cos(turn)), .v = (float)(s * sin(turn)), .w = c};
	struct sl_particle q = p;

	assert_true(got >= 0.0f && got <= 1.000001f && t < 1.000001f);
	if (sine > 1 + 1.5e-6)
		assert_true(got == 1.0f && t == 0.0f);
	if (sine < 1 - 1.5e-6) { /* refracted to either side */
		assert_true((got < 1.0f || c == 0.0f) && t >= 0.0f);
		q.w = p.w = turn > 3 ? -c : c;
		sl_refract(&q, n / m, t);
		assert_true(fabs(excess_length(&q)) < 2e-6 && q.w * p.w >= 0.0f);
		assert_true(fabsf(q.u - n / m * p.u) < 1e-6f && fabsf(q.v - n / m * p.v) < 1e-6f);
	}
	return fabs((double)got - want_fresnel((double)n, (double)m, fmin((double)c, 1))) *
	       fmax((double)t, 1e-3);
}

/* A direction may be an ulp too long: then 1 - c^2 is below 0. */
TEST(surfaces_obey_fresnel_and_snell)
{
	static const float indices[] = {0.1f, 0.5f, 0.99f, 1, 1.000001f, 1.33f, 1.5f, 2.4f, 10};
	const int n = sizeof(indices) / sizeof(indices[0]);
	const double critical = sqrt(1 - 1 / 2.25);
	double worst = 0;

	for (int i = 0; i < n * n; i++)
		for (int k = 0; k <= 1001; k++) {
			bool steep = indices[i / n] > 1.5f * indices[i % n];
			float c = k <= 1000 || steep ? fminf((float)k / 1000, 1) : 1 + 0x1p-22f;

			worst = fmax(worst,
				check_surface(indices[i / n], indices[i % n], c, 6.28 * k / 1001));
		}
	for (int i = -1000; i <= 1000; i++)
		worst = fmax(
			worst, check_surface(1.5f, 1, (float)(critical + 1e-6 * i), 0.006 * i));
	print_message("reflectance: largest error %.2g\n", worst);
	assert_true(worst < 5e-6);
}

/* --- scattering ------------------------------------------------------------------------------- */

/* Cosine of the scattering angle for a uniform number and the asymmetry g. */
static float scatter(double g, float uniform)
{
	return sl_henyey_greenstein((float)g, (float)(2 * (1 + g) * (1 + g)), uniform);
}

/*
 * Error of the cosine in units of the last place of u, compared with the inverse in the textbook
 * form: (1 + g^2 - ((1 - g^2) / (1 - g + 2 g u))^2) / 2 g. The function is steep for g near 1 or
 * -1.
 */
static double scatter_error(double g, double u, double c)
{
	double s = 1 - g + 2 * g * u, q = (1 - g * g) / s, slope = 2 * q * q / s;
	double want = fabs(g) < 1e-8 ? 2 * u - 1 : (1 + g * g - q * q) / (2 * g);

	return fabs(c - want) / (slope + 2) * 0x1p24;
}

TEST(scattering_has_its_mean_and_distribution)
{
	static const double g[] = {
		-0.999, -0.9, -0.3, -1e-7, 0, 1e-30, 1e-7, 0.1, 0.75, 0.9, 0.99, 0.999};
	enum { N = 1 << 20 };

	for (size_t i = 0; i < sizeof(g) / sizeof(g[0]); i++) {
		double sum = 0, worst = 0;

		for (int k = 0; k < N; k++) {
			float u = ((float)k + 0.5f) / N, c = scatter(g[i], u);

			assert_true(c >= -1.0f && c <= 1.0f);
			assert_true(g[i] != 0 || c == fmaf(2.0f, u, -1.0f));
			sum += (double)c;
			worst = fmax(worst, scatter_error(g[i], (double)u, (double)c));
		}
		print_message(
			"g %6.3f: mean %+.1e, cosine within %.1f\n", g[i], sum / N - g[i], worst);
		assert_true(fabs(sum / N - g[i]) < 1e-6 && worst < 8);
		assert_true(fabsf(scatter(g[i], 0x1p-33f) + 1.0f) < 3e-4f);
		assert_true(fabsf(scatter(g[i], 1.0f) - 1.0f) < 3e-4f);
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

/*
 * c = 1 keeps the direction, c = -1 reverses it; the mean over all azimuths is along the old one.
 */
TEST(scattering_at_the_poles)
{
	for (size_t i = 0; i < sizeof(poles) / sizeof(poles[0]); i++) {
		const struct sl_particle *pole = &poles[i];
		double u = 0, v = 0, w = 0;

		for (int k = 0; k < 1002; k++) {
			const float c = k < 1000 ? 0.25f : k == 1000 ? 1 : -1;
			struct sl_particle p = *pole;

			sl_scatter(&p, c, (float)k / 500);
			assert_true(fabs(excess_length(&p)) < 1e-6);
			assert_true(fabs(cosine_between(&p, pole) - (double)c) < 1e-6);
			u += k < 1000 ? (double)p.u / 250 : 0;
			v += k < 1000 ? (double)p.v / 250 : 0;
			w += k < 1000 ? (double)p.w / 250 : 0;
		}
		assert_true(fabs(u - (double)pole->u) < 4e-6 && fabs(v - (double)pole->v) < 4e-6 &&
			    fabs(w - (double)pole->w) < 4e-6);
	}
}
