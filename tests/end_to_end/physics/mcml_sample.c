/*
 * mcml_sample.c - data/configs/mcml_sample.yaml compared with all tables of the sample output of MCML,
 * data/reference/mcml_sample.txt.
 *
 * Both runs have statistical errors, that of MCML those of 1e6 photons. The absorption of MCML as a
 * function of depth has another error, of its random number generator ran3: at 4e6 photons, MCML with
 * ran3 is up to 0.3 % lower in the first layer than this program (sum of squared differences 188 for 40
 * cells), and with drand48 it agrees (38). BIAS allows for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/tallies/grid_cells.h"
#include "tests/support/tallies/physics_run.h"

#define BIAS    0.003
#define PHOTONS 1e6
#define PI      3.14159265358979323846
#define STEP    0.01 /* cm: of z and of r */

enum { DEPTHS = 40, RADII = 50 };

/* The grids, in the order of the configuration; a TAIL has the radii of the last row of MCML. */
enum { DEPOSIT, FLUENCE, TRACK, RINGS, RINGS_TAIL, ENDS, ENDS_TAIL, LAYERS };

/* --- MCML's tables ---------------------------------------------------------------------------- */

/* Reads a table of the reference, without errors. */
static void read_table(const char *name, struct cells *c)
{
	char path[4096], line[1024], *end;
	bool found = false;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/data/reference/mcml_sample.txt", source_root());
	f = fopen(path, "r");
	assert_non_null(f);
	c->n = 0;
	while (fgets(line, sizeof(line), f) && (!found || c->n < n)) {
		if (found)
			for (char *at = line; c->n < n; at = end) {
				double value = strtod(at, &end);

				if (end == at)
					break;
				c->error[c->n] = 0;
				c->value[c->n++] = value;
			}
		else if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ' ') {
			n = strtoul(line + strlen(name), NULL, 10);
			found = true;
		}
	}
	fclose(f);
	assert_true(found && n > 0 && n <= GRID_CELLS_MAX && c->n == n);
}

/* --- comparison ------------------------------------------------------------------------------- */

static double particles(void)
{
	return is_quick() ? 2e5 : 1e6;
}

/* Divides value i and its error. */
static void divide(struct cells *c, size_t i, double size)
{
	c->value[i] /= size;
	c->error[i] /= size;
}

static double ring(size_t r)
{
	return 2 * PI * ((double)r + 0.5) * STEP * STEP;
}

/*
 * Compares a table with MCML's. limit is for the sum of squared differences; neighbouring cells are
 * correlated, so it exceeds that of as many independent cells. With a relative error of planted in all
 * cells the sum must exceed it.
 */
static void compare(const char *name, const struct cells *c, double limit, double planted)
{
	static struct cells published;
	double chi2, low, high;

	read_table(name, &published);
	assert_int_equal(published.n, c->n);
	for (size_t i = 0; i < c->n; i++)
		published.error[i] = hypot(c->error[i] * sqrt(particles() / PHOTONS),
			published.value[i] * (name[0] == 'A' ? BIAS : 5e-5));
	chi2 = cells_chi_square(c, &published, 1);
	low = cells_chi_square(c, &published, 1 - planted);
	high = cells_chi_square(c, &published, 1 + planted);
	print_message("%s: %g for %zu cells, limit %g; with errors of %g: %g and %g\n", name, chi2,
		c->n, limit, planted, low, high);
	assert_true(chi2 < limit);
	assert_true(is_quick() || (low > limit && high > limit));
}

/* --- absorption ------------------------------------------------------------------------------- */

TEST(absorption_by_depth)
{
	static struct cells c, layers;

	cells_append(report, DEPOSIT, "all", &c);
	for (size_t i = 0; i < c.n; i++)
		divide(&c, i, STEP);
	compare("A_z", &c, 80, 0.02);
	cells_append(report, LAYERS, "all", &layers);
	compare("A_l", &layers, 18, 0.02);
}

/* The fluence times the absorption coefficient is the absorption. */
TEST(fluence_by_depth)
{
	static struct cells c;

	for (size_t grid = FLUENCE; grid <= TRACK; grid++) {
		c.n = 0;
		cells_append(report, grid, "all", &c);
		assert_int_equal(c.n, DEPTHS);
		for (size_t i = 0; i < c.n; i++)
			divide(&c, i, i < DEPTHS / 2 ? STEP : STEP / 2);
		compare("A_z", &c, 80, 0.02);
	}
}

TEST(absorption_by_depth_and_radius)
{
	static struct cells c;

	cells_append(report, RINGS, "all", &c);
	cells_append(report, RINGS_TAIL, "all", &c);
	for (size_t i = 0; i < c.n; i++)
		divide(&c, i, STEP * ring(i / DEPTHS));
	compare("A_rz", &c, 2600, 0.02);
}

/* --- light that leaves ------------------------------------------------------------------------ */

/*
 * Compares the light of a fate by radius. MCML's tables by angle have one angle from 0 to 90 degrees,
 * whose solid angle follows from its middle, 45 degrees; by radius and angle they are radiances.
 */
static void compare_face(const char *fate, const char *face)
{
	const double cosine = sqrt(0.5), solid_angle = 2 * PI * sqrt(0.5) * PI / 2;
	static struct cells c;
	char name[16];

	c.n = 0;
	cells_append(report, ENDS, fate, &c);
	cells_append(report, ENDS_TAIL, fate, &c);
	assert_int_equal(c.n, RADII);
	for (size_t i = 0; i < c.n; i++)
		divide(&c, i, ring(i));
	snprintf(name, sizeof(name), "%s_r", face);
	compare(name, &c, 95, 0.03);
	for (size_t i = 0; i < c.n; i++)
		divide(&c, i, solid_angle * cosine);
	snprintf(name, sizeof(name), "%s_ra", face);
	compare(name, &c, 95, 0.03);
	c.n = 1;
	c.value[0] = of_fate(report, fate, "weight_fraction") / solid_angle;
	c.error[0] = of_fate(report, fate, "standard_error_over_batches") / solid_angle;
	snprintf(name, sizeof(name), "%s_a", face);
	compare(name, &c, 12, 0.02);
}

TEST(reflectance_and_transmittance)
{
	compare_face("reflected", "Rd");
	compare_face("transmitted", "Tt");
}

TEST(fractions)
{
	static const char *const fate[] = {"specular", "reflected", "absorbed", "transmitted"};
	static struct cells c, published;

	read_table("RAT", &published);
	for (c.n = 0; c.n < 4; c.n++) {
		c.value[c.n] = of_fate(report, fate[c.n], "weight_fraction");
		c.error[c.n] = of_fate(report, fate[c.n], "standard_error_over_batches");
		/* MCML does not sample the specular reflectance */
		published.error[c.n] = c.n == 0 ? 0 : c.error[c.n] * sqrt(particles() / PHOTONS);
	}
	print_message("RAT: %g for 4 cells\n", cells_chi_square(&c, &published, 1));
	assert_true(cells_chi_square(&c, &published, 1) < 20);
	assert_true(cells_chi_square(&c, &published, 1.02) > 20);
}

BEFORE_TESTS()
{
	physics_begin("mcml_sample", "run.particles=1e6", "run.particles=2e5");
}

AFTER_TESTS()
{
	physics_end();
}
