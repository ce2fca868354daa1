/*
 * scores.c - scores along the histories of a slab: equal bytes on the CPU and the emulated device, in both
 * modes, in rounds, with the scalar rules, and for the model slab_paths; absorbed weight and currents close
 * exactly; the Beer-Lambert law; the ratio of deposit and fluence is the absorption coefficient.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/text/yaml.h"
#include "stages/formats/formats.h"
#include "tests/support/runs/reference_run.h"

enum { BATCHES = 3, CELLS = 40, PARTICLES = 6010 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 6010, batch: 2100}\n"
	"model: {slab: {mu_a: [2 /cm, 8 /cm], mu_s: [20 /cm, 9 /cm], g: 0.5, n: [1.4, 1.3],\n"
	"  thickness: [0.25 cm, 0.25 cm]}}\n"
	"keep: [transmitted, reflected]\n"
	"key: [w:16]\n"
	"tallies:\n"
	"  - [deposit, z:40]\n"
	"  - [fluence_collision, z:40]\n"
	"  - [fluence_collision, r:20:1 um..10 cm:log, z:0 cm..0.1 cm..0.4 cm, time:4:0 ps..20 ps]\n"
	"  - [w:16, transmitted]\n"
	"  - [fluence_track, z:40]\n"
	"  - [fluence_track, r:20:0 cm..1 cm, x:-1 cm..-0.1 cm..0.2 cm..3 cm, time:4:0 ps..20 ps]\n"
	"  - [fluence_track, z:30:0.1 cm..0.4 cm, y:8:-0.3 cm..0.5 cm]\n"
	"  - [crossing:0.25 cm, w:20, r:10:0 cm..1 cm]\n";

/* The slab of the configuration as the other model that has scores. */
#define PATHS                                                                          \
	"model={slab_paths: {mu_a: [2 /cm, 8 /cm], mu_s: [20 /cm, 9 /cm], g: 0.5, n: " \
	"[1.4, 1.3], thickness: [0.25 cm, 0.25 cm]}}"

#define IMPLICIT "model.slab.absorption=implicit"

/* Compares the counters of the runs "out" and expected, and removes "out". */
static void expect_equal_counters(const char *expected)
{
	for (int k = 0; k < BATCHES; k++) {
		char name[64];
		size_t is_bytes, should_bytes;
		char *is, *should;

		snprintf(name, sizeof(name), "out/t_%06d.bins", k);
		is = folder_read(&folder, name, &is_bytes);
		snprintf(name, sizeof(name), "%s/t_%06d.bins", expected, k);
		should = folder_read(&folder, name, &should_bytes);
		assert_int_equal(is_bytes, should_bytes);
		assert_memory_equal(is, should, is_bytes);
		free(is);
		free(should);
	}
	remove_run(&folder, "out");
}

/* Runs c.yaml with implicit capture or without, and further settings, into out. */
static void run(
	const char *out, bool implicit, const char *set, const char *other, const char *level)
{
	const char *const environment[] = {level, NULL};
	const char *const *words = WORDS("run", "c.yaml", "--out", out, "--quiet", "--set",
		implicit ? IMPLICIT : "model.slab.absorption=analogue", "--set", set, "--set",
		other);
	struct ending e;

	call(&folder, level ? environment : NULL, words, &e);
	expect_ending(&e, SL_OK, "", words);
}

TEST(all_devices_and_modes_give_the_same_bits)
{
	static const char *const sets[][2] = {{"run.device=cpu", "run.threads=3"},
		{"run.device=cpu", "transport.schedule=rounds"},
		{"run.device=emulated", "run.mode=staged"},
		{"run.device=emulated", "transport.schedule=rounds"}};

	for (int implicit = 0; implicit < 2; implicit++) {
		run("scalar", implicit, "run.device=cpu", "run.threads=1", "SL_LEVEL=baseline");
		for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
			run("out", implicit, sets[k][0], sets[k][1], NULL);
			expect_equal_counters("scalar");
		}
		expect(&folder, SL_OK, "", WORDS("verify", "scalar"));
		remove_run(&folder, "scalar");
	}
}

TEST(slab_paths_has_the_scores_of_slab)
{
	static const char *const sets[][2] = {{"run.device=cpu", "run.threads=1"},
		{"run.device=cpu", "transport.schedule=rounds"},
		{"run.device=emulated", "run.mode=staged"},
		{"run.device=emulated", "transport.schedule=rounds"}};

	for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", PATHS, "--set",
				sets[k][0], "--set", sets[k][1]));
		expect_equal_counters("whole");
	}
}

/*
 * On the host, the word of a cell is carried every 2^15 collisions (stages/counting/score_word.h). All layers
 * together have few cells, which get many times as many.
 */
TEST(cells_with_many_collisions_have_the_same_bits)
{
	static const char *const sets[] = {"run.threads=1", "run.mode=staged",
		"transport.schedule=rounds", "model.slab.absorption=implicit"};
	static const char tallies[] = "tallies=[[deposit, z:1], [fluence_collision, z:1], "
				      "[deposit, z:2, x:3:-1 m..1 m], [fluence_track, z:2]]";

	for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
		uint64_t all; /* collisions of the first cell, after those below */
		size_t bytes;
		char *words;

		for (int emulated = 0; emulated < 2; emulated++)
			expect(&folder, SL_OK, "",
				WORDS("run", "c.yaml", "--out", emulated ? "many" : "out",
					"--quiet", "--set", "model.slab.mu_s=200 /cm", "--set",
					tallies, "--set",
					emulated ? "run.device=emulated" : "run.device=cpu",
					"--set", sets[k]));
		words = folder_read(&folder, "out/t_000000.bins", &bytes);
		assert_true(bytes > 2 * sizeof(all));
		memcpy(&all, words + sizeof(all), sizeof(all));
		assert_true(all > 2 << 15);
		free(words);
		expect_equal_counters("many");
		remove_run(&folder, "many");
	}
}

/* --- physics ---------------------------------------------------------------------------------- */

static struct sl_yaml *read_run(const char *out)
{
	char name[64];
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	size_t bytes;
	char *json;

	snprintf(name, sizeof(name), "%s/run.json", out);
	json = folder_read(&folder, name, &bytes);
	assert_ok(sl_yaml_parse(json, bytes, &tree, &problem));
	free(json);
	return tree;
}

static sl_node member(const struct sl_yaml *tree, sl_node node, const char *key)
{
	sl_node found = sl_yaml_get(tree, node, key);

	if (!found)
		fail_msg("%s is missing", key);
	return found;
}

static double number(const struct sl_yaml *tree, sl_node node)
{
	return strtod(sl_yaml_text(tree, node, NULL), NULL);
}

/* The values of the cells of score k of a run. */
static void read_score(const struct sl_yaml *tree, size_t k, const char *key, double value[CELLS])
{
	sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");
	sl_node grid = sl_yaml_item(tree, member(tree, tallies, "grids"), k, NULL);
	sl_node row = member(tree, member(tree, grid, "fates"), "all"),
		list = member(tree, row, key);

	assert_int_equal(sl_yaml_size(tree, list), CELLS);
	for (size_t i = 0; i < CELLS; i++)
		value[i] = number(tree, sl_yaml_item(tree, list, i, NULL));
}

/* What a fate has of a quantity in run.json. */
static double of_fate(const struct sl_yaml *tree, const char *fate, const char *key)
{
	sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");

	return number(tree, member(tree, member(tree, member(tree, tallies, "fates"), fate), key));
}

/* A single number of the row of score k. */
static double of_row(const struct sl_yaml *tree, size_t k, const char *key)
{
	sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");
	sl_node grid = sl_yaml_item(tree, member(tree, tallies, "grids"), k, NULL);

	return number(tree, member(tree, member(tree, member(tree, grid, "fates"), "all"), key));
}

static double sum(const double value[CELLS])
{
	double all = 0;

	for (int i = 0; i < CELLS; i++)
		all += value[i];
	return all;
}

/* Each absorbed particle deposits 1, so the sum is their number, and each collision is counted. */
TEST(absorbed_particles_are_deposited)
{
	struct sl_yaml *tree = read_run("whole");
	double weight[CELLS], count[CELLS];
	sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");

	read_score(tree, 0, "weights", weight);
	read_score(tree, 0, "counts", count);
	assert_true(sum(weight) == of_fate(tree, "absorbed", "count"));
	assert_true(sum(weight) > PARTICLES / 4.0);
	assert_true(sum(count) == number(tree, member(tree, tallies, "collisions")));
	sl_yaml_free(tree);
}

/* With implicit capture, deposit and fluence differ by mu_a in each cell; the sum is the missing weight. */
TEST(implicit_capture_is_deposited)
{
	double deposit[CELLS], fluence[CELLS];
	struct sl_yaml *tree;

	run("out", true, "run.device=cpu", "model.slab.roulette.below=1e-6", NULL);
	tree = read_run("out");
	read_score(tree, 0, "weights", deposit);
	read_score(tree, 1, "weights", fluence);
	for (int i = 0; i < CELLS; i++)
		assert_true(fabs(deposit[i] / fluence[i] / (i < CELLS / 2 ? 2 : 8) - 1) < 1e-4);
	/* the roulette changes the weight by less than 1e-6 for each particle */
	assert_true(fabs(sum(deposit) / PARTICLES - of_fate(tree, "absorbed", "weight_fraction")) <
		    1e-5);
	sl_yaml_free(tree);
	remove_run(&folder, "out");
}

/* The net current through a plane is a score with the bins w < 0 and w >= 0. */
static double net_current(const struct sl_yaml *tree, size_t k)
{
	sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");
	sl_node grid = sl_yaml_item(tree, member(tree, tallies, "grids"), k, NULL);
	sl_node list = member(tree, member(tree, member(tree, grid, "fates"), "all"), "weights");

	assert_int_equal(sl_yaml_size(tree, list), 2);
	return number(tree, sl_yaml_item(tree, list, 1, NULL)) -
	       number(tree, sl_yaml_item(tree, list, 0, NULL));
}

/*
 * What goes into a layer and does not leave it is absorbed there. With analogue absorption these are numbers of
 * particles, so that both sides are equal. The plane of the far face has what is transmitted.
 */
TEST(currents_close)
{
	struct sl_yaml *tree;
	double deposited;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
			"tallies=[[crossing:0.1 cm, w:2], [crossing:0.25 cm, w:2], "
			"[crossing:0.3 cm, w:2], [crossing:5 mm, w:2], "
			"[deposit, z:0.1 cm..0.25 cm..0.3 cm..0.5 cm]]"));
	tree = read_run("out");
	deposited = net_current(tree, 0) - net_current(tree, 3);
	assert_true(net_current(tree, 0) > net_current(tree, 1));
	assert_true(net_current(tree, 3) == of_fate(tree, "transmitted", "count"));
	assert_true(deposited > PARTICLES / 10.0);
	assert_true(
		deposited == of_fate(tree, "absorbed", "count") - of_row(tree, 4, "weight_under"));
	for (size_t k = 0; k < 3; k++) {
		sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");
		sl_node grid = sl_yaml_item(tree, member(tree, tallies, "grids"), 4, NULL);
		sl_node row = member(tree, member(tree, grid, "fates"), "all");
		sl_node cell = sl_yaml_item(tree, member(tree, row, "weights"), k, NULL);

		assert_true(net_current(tree, k) - net_current(tree, k + 1) == number(tree, cell));
	}
	sl_yaml_free(tree);
	remove_run(&folder, "out");
}

/* However a path is cut, its pieces add up to it; the sum is also that of all collisions, within errors. */
TEST(pieces_add_up_to_paths)
{
	struct sl_yaml *tree = read_run("whole");
	double track[CELLS], collision[CELLS], all, error;

	read_score(tree, 4, "weights", track);
	read_score(tree, 1, "weights", collision);
	all = sum(track);
	error = sqrt(of_fate(tree, "absorbed", "count"));
	print_message("paths %g cm, %g cm by collisions\n", all, sum(collision));
	assert_true(of_row(tree, 4, "weight_under") + of_row(tree, 4, "weight_over") == 0);
	assert_true(fabs(all / sum(collision) - 1) < 5 / error);
	for (size_t k = 5; k < 7; k++) {
		sl_node tallies = member(tree, sl_yaml_root(tree), "tallies");
		sl_node grid = sl_yaml_item(tree, member(tree, tallies, "grids"), k, NULL);
		sl_node row = member(tree, member(tree, grid, "fates"), "all");
		sl_node list = member(tree, row, "weights");
		double total = of_row(tree, k, "weight_under") + of_row(tree, k, "weight_over");

		for (size_t i = 0; i < sl_yaml_size(tree, list); i++)
			total += number(tree, sl_yaml_item(tree, list, i, NULL));
		assert_true(fabs(total / all - 1) < 1e-6);
	}
	sl_yaml_free(tree);
}

/*
 * Without scattering, the fraction exp(-mu z) reaches depth z. Sum of squared deviations in units of the
 * standard error: 40 on average, above 80 with a probability of 1e-4.
 */
TEST(absorption_follows_beer_and_lambert)
{
	double deposit[CELLS], fluence[CELLS], track[CELLS], error[CELLS], chi2 = 0, chi2_track = 0;
	struct sl_yaml *tree;
	const double n = 200000, mu = 4, width = 1.0 / CELLS;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
			"model.slab={mu_a: 4 /cm, mu_s: 0 /cm, n: 1, thickness: 1 cm}", "--set",
			"run.particles=2e5", "--set",
			"tallies=[[deposit, z:40], [fluence_collision, z:40], [fluence_track, z:40]]"));
	tree = read_run("out");
	read_score(tree, 0, "weights", deposit);
	read_score(tree, 1, "weights", fluence);
	read_score(tree, 2, "weights", track);
	read_score(tree, 2, "standard_error_over_batches", error);
	for (int i = 0; i < CELLS; i++) {
		double p = exp(-mu * width * i) - exp(-mu * width * (i + 1));

		chi2 += pow(deposit[i] - n * p, 2) / (n * p * (1 - p));
		assert_true(fabs(fluence[i] - deposit[i] / mu) < 1e-6 * n);
		chi2_track += pow((track[i] / n - p / mu) / error[i], 2);
	}
	print_message("sum of squared deviations: deposit %g, paths %g\n", chi2, chi2_track);
	/* neighbouring cells have the same paths, so this sum is more uncertain */
	assert_true(chi2_track < 160);
	if (!(chi2 > 15 && chi2 < 80))
		fail_msg("sum of squared deviations: %g", chi2);
	sl_yaml_free(tree);
	remove_run(&folder, "out");
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	reference_run_begin(text);
}
