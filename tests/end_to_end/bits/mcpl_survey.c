/*
 * mcpl_survey.c - the survey of MCPL inputs before the first particle is read: total weight, values
 * out of range, and the weight sums of the run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/yaml.h"
#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

enum { PARTICLES = 611, BINS = 5 };

static struct sl_mcpl_particle particles[PARTICLES];

/* --- particles -------------------------------------------------------------------------------- */

/*
 * Weights span six powers of ten below most, and one in seven is negative. If balanced, weights
 * cancel in pairs, and only the last one remains.
 */
static void make_particles(double most, bool balanced)
{
	uint32_t at = 1;

	for (int i = 0; i < PARTICLES; i++) {
		double sign = i % 7 == 3 ? -1 : 1;

		particles[i] = (struct sl_mcpl_particle){
			.position = {2 * next_random(&at) - 1, 0, i},
			.direction = {0, 0, 1},
			.energy = 1,
			.pdg = 22,
			.weight = (double)(float)(sign * most * pow(10, -6 * next_random(&at)))};
		if (balanced && i % 2 == 1)
			particles[i].weight = -particles[i - 1].weight;
	}
}

static void configure(const char *files, const char *more)
{
	char lines[256];

	snprintf(lines, sizeof(lines), "output: {format: npz}\n%s", more);
	write_list_config(&folder, files, ", batch: 70", "x > 0.25 cm", lines);
}

/* --- reports ---------------------------------------------------------------------------------- */

static double number_of(const struct sl_yaml *tree, sl_node at, const char *key)
{
	sl_node node = sl_yaml_get(tree, at, key);

	if (!node)
		fail_msg("there is no %s", key);
	return strtod(sl_yaml_text(tree, node, NULL), NULL);
}

static double item_of(const struct sl_yaml *tree, sl_node at, const char *key, int i)
{
	return strtod(
		sl_yaml_text(tree, sl_yaml_item(tree, sl_yaml_get(tree, at, key), (size_t)i, NULL),
			NULL),
		NULL);
}

/* all is the sum of the absolute values, to which the error is relative. */
static void expect_sum(double found, double expected, double all)
{
	if (!(fabs(found - expected) <= 1e-14 * all))
		fail_msg("%.17g found, %.17g expected of %.17g", found, expected, all);
}

/* --- sums of weights -------------------------------------------------------------------------- */

/* Weight of the particles with this fate in this bin, summed here; BINS: in all bins. */
static double sum_of(bool kept, int bin)
{
	double sum = 0;

	for (int i = 0; i < PARTICLES; i++) {
		float x = (float)particles[i].position[0];

		if ((x > 0.25f) == kept && (bin == BINS || (int)((x + 1) * 2.5f) == bin))
			sum += particles[i].weight;
	}
	return sum;
}

static void check_fate(
	const struct sl_yaml *tree, sl_node tallies, const char *fate, bool kept, double all)
{
	sl_node fates = sl_yaml_get(tree, tallies, "fates");
	sl_node histogram = sl_yaml_item(tree, sl_yaml_get(tree, tallies, "histograms"), 0, NULL);
	sl_node row = sl_yaml_get(tree, sl_yaml_get(tree, histogram, "fates"), fate);

	expect_sum(
		number_of(tree, sl_yaml_get(tree, fates, fate), "weight"), sum_of(kept, BINS), all);
	for (int bin = 0; bin < BINS; bin++)
		expect_sum(item_of(tree, row, "weights", bin), sum_of(kept, bin), all);
}

static void check_sums(const char *out)
{
	struct sl_yaml *tree = report_of(&folder, out);
	sl_node tallies = sl_yaml_get(tree, sl_yaml_root(tree), "tallies");
	double all = 0;

	for (int i = 0; i < PARTICLES; i++)
		all += fabs(particles[i].weight);
	expect_sum(
		number_of(tree, tallies, "weight"), sum_of(false, BINS) + sum_of(true, BINS), all);
	expect_sum(number_of(tree, tallies, "survivors_weight"), sum_of(true, BINS), all);
	assert_true(number_of(tree, tallies, "weight_step") < 1e-17 * all);
	check_fate(tree, tallies, "listed", true, all);
	check_fate(tree, tallies, "dropped", false, all);
	sl_yaml_free(tree);
}

TEST(sums_match_the_files)
{
	static const double most[] = {1, 3e37, 1e-30, 1};
	static const char *const sets[] = {"run.device=cpu", "run.device=emulated"};
	const struct sl_mcpl_header h = {.version = 3, .particles = PARTICLES, .single = true};

	for (int k = 0; k < 4; k++) {
		uint64_t hash = 0, now;

		make_particles(most[k], k == 3);
		make_list(&folder, "w.mcpl.gz", &h, NULL, particles);
		configure("w.mcpl.gz", "tallies: [\"x:5:-1 cm..1 cm\"]\n");
		for (int i = 0; i < 2; i++) {
			expect(&folder, SL_OK, "",
				WORDS("run", "c.yaml", "--out", "w", "--quiet", "--set", sets[i]));
			check_sums("w");
			now = hash_run(&folder, "w");
			hash = i == 0 ? now : hash;
			assert_true(now == hash);
			expect(&folder, SL_OK, "", WORDS("verify", "w", "--quiet"));
			remove_run(&folder, "w");
		}
	}
}

/* A universal weight of 0.5 in the first file, and a second file with a weight per particle. */
TEST(header_states_a_uniform_weight)
{
	struct sl_mcpl_header h = {
		.version = 3, .particles = PARTICLES, .single = true, .weight = 0.5, .pdg = 22};
	struct sl_yaml *tree;
	sl_node tallies;
	char *out;

	make_particles(1, false);
	make_list(&folder, "all.mcpl", &h, NULL, particles);
	configure("all.mcpl", "tallies: [\"x:5:-1 cm..1 cm\"]\n");
	out = output_of(&folder, WORDS("run", "c.yaml", "--out", "all"));
	assert_non_null(strstr(out, "sum of weights"));
	free(out);
	tree = report_of(&folder, "all");
	tallies = sl_yaml_get(tree, sl_yaml_root(tree), "tallies");
	assert_true(number_of(tree, tallies, "weight") == 0.5 * PARTICLES);
	assert_true(number_of(tree, tallies, "survivors_weight") ==
		    0.5 * number_of(tree, tallies, "survivors"));
	tallies = sl_yaml_item(tree, sl_yaml_get(tree, tallies, "histograms"), 0, NULL);
	tallies = sl_yaml_get(tree, sl_yaml_get(tree, tallies, "fates"), "listed");
	assert_true(sl_yaml_get(tree, tallies, "counts") != 0);
	assert_true(sl_yaml_get(tree, tallies, "weights") == 0);
	sl_yaml_free(tree);
	h.weight = 0;
	h.particles = 1;
	particles[0].weight = 0.25;
	make_list(&folder, "one.mcpl", &h, NULL, particles);
	configure("all.mcpl, one.mcpl", "");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "both", "--quiet"));
	tree = report_of(&folder, "both");
	tallies = sl_yaml_get(tree, sl_yaml_root(tree), "tallies");
	assert_true(number_of(tree, tallies, "weight") == 0.5 * PARTICLES + 0.25);
	sl_yaml_free(tree);
}

/* --- invalid values --------------------------------------------------------------------------- */

TEST(values_must_fit_single_precision)
{
	struct sl_mcpl_header h = {
		.version = 3, .particles = PARTICLES, .polarised = true, .flags = true};

	make_particles(1, false);
	particles[600].position[1] = -1e300;
	make_list(&folder, "x.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "x.mcpl", SL_BAD_INPUT,
		"x.mcpl: particle 600 (from 0): its y is -1e+300, but columns are in "
		"single precision (1.4e-45 to 3.4e+38); remove the particle from the list");
	expect(&folder, SL_BAD_INPUT, "x.mcpl: particle 600 (from 0): its y is -1e+300",
		WORDS("convert", "x.mcpl", "--to", "x.csv"));
	assert_false(folder_has(&folder, "x.csv"));
	particles[600].position[1] = -0x1.fffffep127;  /* largest finite float */
	particles[2].polarisation[2] = 0x1.ffffffp127; /* above the largest float; rounds to it */
	make_list(&folder, "p.mcpl.gz", &h, NULL, particles);
	expect_list_refused(&folder, "p.mcpl.gz", SL_BAD_INPUT,
		"particle 2 (from 0): its polarisation is 3.40282357e+38");
	particles[2].polarisation[2] = 0x1.fffffe8p127; /* rounds down to the largest float */
	particles[1].position[0] = (double)INFINITY;    /* stored as infinity in the file */
	make_list(&folder, "inf.mcpl", &h, NULL, particles);
	configure("inf.mcpl", "");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "inf", "--quiet"));
	particles[601].weight = -1e-44;    /* fewer digits in single precision */
	particles[3].position[0] = 1e-300; /* 0 in single precision: 1e-300 cm away */
	make_list(&folder, "small.mcpl", &h, NULL, particles);
	configure("small.mcpl", "");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "small", "--quiet"));
	particles[601].weight = -1e-46; /* 0 in single precision: no particle */
	make_list(&folder, "zero.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "zero.mcpl", SL_BAD_INPUT,
		"zero.mcpl: particle 601 (from 0): its weight is -1e-46, but columns are in single "
		"precision (1.4e-45 to 3.4e+38); scale the weights of the list, or remove the particle");
	expect(&folder, SL_BAD_INPUT, "particle 601 (from 0): its weight is -1e-46",
		WORDS("convert", "zero.mcpl", "--to", "zero.npz"));
	assert_false(folder_has(&folder, "zero.npz"));
	h.single = true;
	particles[2].polarisation[2] = 0;
	particles[8].energy = 4e35; /* MeV: 4e38 keV */
	make_list(&folder, "e.mcpl", &h, NULL, particles);
	expect_list_refused(
		&folder, "e.mcpl", SL_BAD_INPUT, "particle 8 (from 0): its energy is 4.0000001");
	particles[8].energy = 3e35;
	particles[9].time = 4e32; /* ms: 4e38 ns */
	make_list(&folder, "t.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "t.mcpl", SL_BAD_INPUT, "particle 9 (from 0): its time is");
	particles[9].time = 0;
	particles[610].weight = (double)NAN;
	make_list(&folder, "nan.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "nan.mcpl", SL_BAD_INPUT,
		"particle 610 (from 0): its weight is nan, but weights are summed");
	particles[610].weight = (double)INFINITY;
	make_list(&folder, "w.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "w.mcpl", SL_BAD_INPUT,
		"particle 610 (from 0): its weight is inf, but weights are summed");
	h.weight = -1e39;
	make_list(&folder, "all.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "all.mcpl", SL_BAD_INPUT,
		"all.mcpl: the common weight of its particles is -1e+39, but a weight");
	h.weight = 1e-300;
	make_list(&folder, "all.mcpl", &h, NULL, particles);
	expect_list_refused(&folder, "all.mcpl", SL_BAD_INPUT,
		"all.mcpl: the common weight of its particles is 1e-300, but a weight");
	expect(&folder, SL_BAD_INPUT, "is 1e-300, but a weight",
		WORDS("convert", "all.mcpl", "--to", "all.npz"));
	assert_false(folder_has(&folder, "all.npz"));
}

/* Doubles near 1 + 2^-24 and half a step more; ties round to even. */
TEST(rounding_of_doubles_is_reported)
{
	const struct sl_mcpl_header h = {.version = 3, .particles = 3};
	static const char notice[] = "it holds doubles, which are rounded to floats (24 bits)";
	struct sl_mcpl_header found_header;
	struct sl_mcpl_particle *found;
	struct sl_yaml *tree;
	sl_node inputs;
	char *out;

	make_particles(1, false);
	particles[0].position[0] = 1 + 0x1p-24;
	particles[1].position[0] = 1 + 0x1.000001p-24;
	particles[2].position[0] = 1 + 0x3p-24;
	make_list(&folder, "wide.mcpl", &h, NULL, particles);
	copy_reference_list(&folder, "miscphys.mcpl.gz");
	configure("miscphys.mcpl.gz, wide.mcpl", "");
	out = output_of(
		&folder, WORDS("run", "c.yaml", "--out", "wide", "--set", "keep=listed", "--set",
				 "output={format: mcpl, mcpl: {precision: single}}", "--set",
				 "run.batch=195"));
	assert_non_null(strstr(out, "wide.mcpl: 3 particles; it holds doubles, which"));
	assert_null(strstr(out, "miscphys"));
	free(out);
	found = particles_of(&folder, "wide/t_000001.mcpl", &found_header);
	assert_true(found[0].position[0] == 1);
	assert_true(found[1].position[0] == 1 + 0x1p-23);
	assert_true(found[2].position[0] == 1 + 0x1p-22);
	free(found);
	tree = report_of(&folder, "wide");
	inputs = sl_yaml_get(tree, sl_yaml_root(tree), "inputs");
	assert_true(sl_yaml_get(tree, sl_yaml_item(tree, inputs, 0, NULL), "notice") == 0);
	inputs = sl_yaml_item(tree, inputs, 1, NULL);
	assert_string_equal(sl_yaml_text(tree, sl_yaml_get(tree, inputs, "notice"), NULL), notice);
	assert_string_equal(sl_yaml_text(tree, sl_yaml_get(tree, inputs, "doubles"), NULL), "true");
	sl_yaml_free(tree);
}
