/*
 * diffusion.c - the fluence around an isotropic point source in a scattering medium, which
 * data/configs/point_in_medium.yaml tallies, compared with theory.
 *
 * Far from the source the transport equation with isotropic scattering has the solution of a
 * diffusion equation. The diffusion length nu, in mean free paths, follows from c nu / 2
 * ln((nu + 1)/(nu - 1)) = 1, where c is the albedo; the fluence of a plane source is exp(-x/nu)/(2 N),
 * N = c/2 nu^3 (c/(nu^2 - 1) - 1/nu^2). (Case and Zweifel, Linear Transport Theory, 1967.) At c = 0.99,
 * nu is 5.7967; diffusion theory with the coefficient 1/(3 mu_t) has 5.7735, and 0.3 % more fluence in
 * the cell of grid 4. The rest of the solution decays as exp(-mu_t x), and is negligible here.
 */
#include <math.h>
#include <stdio.h>

#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/tallies/grid_cells.h"
#include "tests/support/tallies/physics_run.h"

#define MU_A  0.01 /* per cm; mu_t is 1 per cm */
#define C     0.99
#define SPEED 29.9792458 /* cm/ns */

enum { SLICES = 200 };

/* The diffusion length, by bisection. */
static double diffusion_length(void)
{
	double low = 1 + 1e-9, high = 100;

	while (high - low > 1e-12) {
		double nu = (low + high) / 2;

		if (C * nu / 2 * log((nu + 1) / (nu - 1)) > 1)
			low = nu;
		else
			high = nu;
	}
	return low;
}

/* The fluence of a plane source at its own place, without the part that decays quickly. */
static double plane_strength(double nu)
{
	return 1 / (C * pow(nu, 3) * (C / (nu * nu - 1) - 1 / (nu * nu)));
}

/* Adds the integral of the fluence of a plane source over depths from a to b from it. */
static void expect_plane(struct cells *c, double a, double b)
{
	double nu = diffusion_length();

	c->value[c->n++] = plane_strength(nu) * nu * (exp(-a / nu) - exp(-b / nu));
}

/*
 * Adds the integral over a ring from radius r to s and over depths from a to b. That over the radius is
 * exact; that over the depth uses the midpoint rule.
 */
static void expect_ring(struct cells *c, double r, double s, double a, double b)
{
	double nu = diffusion_length(), sum = 0;

	for (int k = 0; k < SLICES; k++) {
		double x = a + (b - a) * (k + 0.5) / SLICES;

		sum += exp(-hypot(x, r) / nu) - exp(-hypot(x, s) / nu);
	}
	c->value[c->n++] = plane_strength(nu) * sum * (b - a) / SLICES;
}

/* Compares all cells of grid k; an error of 2 % in every cell must be found. */
static void compare(size_t k, const struct cells *expected, double limit)
{
	static struct cells c;
	double chi2;

	c.n = 0;
	cells_append(report, k, "all", &c);
	chi2 = cells_chi_square(&c, expected, 1);
	print_message("grid %zu: %g for %zu cells, limit %g; with errors of 2 %%: %g and %g\n", k,
		chi2, c.n, limit, cells_chi_square(&c, expected, 0.98),
		cells_chi_square(&c, expected, 1.02));
	assert_true(chi2 < limit);
	if (!is_quick()) {
		assert_true(cells_chi_square(&c, expected, 0.98) > limit);
		assert_true(cells_chi_square(&c, expected, 1.02) > limit);
	}
}

TEST(fluence_at_a_depth_is_that_of_diffusion)
{
	static struct cells far, near, one;

	for (int k = 0; k < 10; k++) {
		expect_plane(&far, 8 + 3 * k, 11 + 3 * k);
		expect_plane(&near, 35 - 3 * k, 38 - 3 * k);
	}
	expect_plane(&one, 8, 38);
	compare(0, &far, 40);
	compare(1, &near, 40);
	compare(4, &one, 12);
}

TEST(fluence_in_rings_is_that_of_diffusion)
{
	static struct cells expected;

	for (int r = 0; r < 4; r++)
		for (int z = 0; z < 5; z++)
			expect_ring(&expected, 5 * r, 5 * r + 5, 8 + 4 * z, 12 + 4 * z);
	compare(2, &expected, 55);
	compare(5, &expected, 55);
}

/* The path of all particles in a time gate: nothing but absorption removes them. */
TEST(fluence_in_time_gates_is_exact)
{
	static struct cells expected;

	for (int k = 0; k < 12; k++)
		expected.value[expected.n++] =
			(exp(-MU_A * SPEED * k) - exp(-MU_A * SPEED * (k + 1))) / MU_A;
	compare(3, &expected, 45);
	compare(6, &expected, 45);
}

/*
 * The net current through a plane is what is absorbed beyond it, which is mu_a times the fluence there. One
 * percent is 3.8 standard errors of 1e6 particles.
 */
TEST(current_is_absorbed_beyond_the_plane)
{
	static struct cells c, beyond;
	double net, expected;

	cells_append(report, 7, "all", &c);
	assert_int_equal(c.n, 2);
	net = c.value[1] - c.value[0];
	expect_plane(&beyond, 8, 92);
	expected = MU_A * beyond.value[0];
	print_message("current %g, %g expected\n", net, expected);
	assert_true(fabs(net / expected - 1) < (is_quick() ? 0.04 : 0.01));
}

BEFORE_TESTS()
{
	physics_begin("point_in_medium", "run.particles=1e6", "run.particles=1e5");
}

AFTER_TESTS()
{
	physics_end();
}
