/*
 * slab_glass_plate.c - tests reflection and transmission of a clear glass plate in the model slab
 * against Fresnel's equations, so that an error of 0.1 % in a reflectance fails.
 *
 * The reference reflectance uses the angles of incidence and refraction (Born and Wolf, Principles of
 * Optics, 7th edition, section 1.5.2, equation 21: sin(i - t)/sin(i + t) and tan(i - t)/tan(i + t)),
 * not the cosines and indices of stages/models/optics.h. From the random words of a particle it
 * follows exactly which boundaries reflect it, so no result depends on statistics: a reflectance that
 * is wrong by 0.1 % changes the fate of about N/1000 of the reflected particles.
 */
#include "tests/support/models/slab_check.h"

enum { N = 200000, SEED = 11 };

/*
 * The model draws reflection at every boundary from unpolarised light and does not store the
 * polarisation. The angle inside is that of refraction, so every boundary has the same reflectance.
 */
static double reflectance(double n, double angle)
{
	double inside = asin(sin(angle) / n), difference = angle - inside, sum = angle + inside;
	double s = sin(difference) / sin(sum), p = tan(difference) / tan(sum);

	if (angle == 0) /* the limit of both */
		s = p = (n - 1) / (n + 1);
	return (s * s + p * p) / 2;
}

/* Values from closed forms, which do not use the function above. */
TEST(reference_has_closed_forms)
{
	const double pi = acos(-1.0), s45 = (sqrt(0.5) - sqrt(1.75)) / (sqrt(0.5) + sqrt(1.75));

	assert_true(fabs(reflectance(1.5, 0) - 0.04) < 1e-15);
	/* at 45 degrees the reflectance of p is the square of that of s */
	assert_true(fabs(reflectance(1.5, pi / 4) - (pow(s45, 2) + pow(s45, 4)) / 2) < 1e-15);
	/* at Brewster's angle p is not reflected, and s is ((n^2 - 1)/(n^2 + 1))^2 */
	assert_true(fabs(reflectance(1.5, atan(1.5)) - pow(1.25 / 3.25, 2) / 2) < 1e-15);
}

struct plate {
	struct sl_slab rules;
	double reflectance;
	uint64_t transmitted, near; /* near: histories with a random number within 0.1 % of it */
};

/*
 * Draws the fate of a particle as the model must: at each boundary, a uniform number of at most the
 * reflectance reflects. False if a number is so close to it that rounding to float decides.
 */
static bool expect_fate(struct plate *t, uint64_t id, uint8_t *fate)
{
	double uniform = (double)sl_uniform(sl_draw(SEED, id, 0).at[0]);
	bool is_near = fabs(uniform / t->reflectance - 1) < 1e-3, up = true, clear = true;

	for (uint64_t step = 1;; step++) {
		bool reflects = uniform <= t->reflectance;

		clear = clear && fabs(uniform / t->reflectance - 1) > 1e-5;
		is_near = is_near || fabs(uniform / t->reflectance - 1) < 1e-3;
		if (step == 1 ? reflects : !reflects)
			break;
		up = !up; /* enters, or is reflected inside */
		uniform = (double)sl_uniform(sl_draw(SEED, id, step).at[1]);
	}
	t->near += clear && is_near;
	*fate = (uint8_t)(up ? SL_FATE_reflected : SL_FATE_transmitted);
	return clear;
}

static void check_plate(double n, double angle)
{
	/* a mean free path of 1e30 cm: no particle collides */
	struct sl_slab_config c = slab_of_one(1e-30, 0, 0, 0.1, n, 1, 1, angle, SL_SLAB_ANGLE);
	struct plate t = {.rules = slab_rules(c), .reflectance = reflectance(n, angle)};
	double transmittance = (1 - t.reflectance) / (1 + t.reflectance), share;
	uint64_t unclear = 0;

	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&t.rules, SL_EVERY_COLUMN, SEED, id);
		uint8_t expected;

		sl_slab_advance(&t.rules, SL_EVERY_COLUMN, SEED, &p, UINT32_MAX);
		assert_int_equal(p.collisions, 0);
		if (!expect_fate(&t, id, &expected))
			unclear++;
		else if (p.fate != expected)
			fail_msg("n %g, %g rad, particle %llu: fate %s, expected %s with the "
				 "reflectance %.6f",
				n, angle, (unsigned long long)id, sl_fate_facts[p.fate].name,
				sl_fate_facts[expected].name, t.reflectance);
		t.transmitted += p.fate == SL_FATE_transmitted;
	}
	/* the sum over all reflections inside: T = (1 - R)/(1 + R) */
	share = (double)t.transmitted / N;
	print_message("n %g, %.2f rad: reflectance %.6f, transmitted %.5f, expected %.5f, "
		      "%llu histories within 0.1 %%\n",
		n, angle, t.reflectance, share, transmittance, (unsigned long long)t.near);
	assert_true(
		fabs(share - transmittance) < 4 * sqrt(transmittance * (1 - transmittance) / N));
	assert_true(t.near >= 5 && unclear < 10);
}

TEST(plate_reflects_and_transmits)
{
	static const double angles[] = {0, 0.5, 0.98, 1.2, 1.5};

	for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
		check_plate(1.5, angles[i]);
		check_plate(1.33, angles[i]);
	}
}
