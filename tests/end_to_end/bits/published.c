/*
 * published.c - runs every configuration in data/configs that has a check, and compares the result
 * with the published value.
 *
 * Runs use 5e4 particles. Those that sampling.h selects use all, unless in a sanitizer build or
 * with SLUICE_QUICK set.
 */
#include <math.h>
#include <stdio.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "tests/cases/sampling.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { VALUES_MAX = 256, LEAST_VALUES = 50, FEW = 50000 };

/* One line of data/reference. */
static struct {
	char name[64], fate[32];
	double fraction;
	bool checked;
} published[VALUES_MAX];
static size_t n_published;

static void read_published(const char *file)
{
	char line[LINE_BYTES];
	FILE *f = open_source(file);

	for (; next_line(f, line); n_published++) {
		assert_true(n_published < VALUES_MAX);
		assert_int_equal(
			sscanf(line, "%63s %31s %lf", published[n_published].name,
				published[n_published].fate, &published[n_published].fraction),
			3);
	}
	fclose(f);
}

/*
 * Each value that a configuration checks equals the published value, to the last digit. Returns
 * their number.
 */
static int checks_of(const char *path)
{
	static struct sl_config c;
	struct sl_reader *reader;
	int n = 0;

	assert_ok(sl_config_open(path, NULL, 0, &c, &reader));
	assert_ok(sl_config_verdict(reader));
	sl_config_close(reader);
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		bool found = isnan(c.check.fate[f]);

		n += !found;
		for (size_t i = 0; i < n_published && !found; i++) {
			found = strcmp(published[i].name, c.run.name) == 0 &&
			        strcmp(published[i].fate, sl_fate_facts[f].name) == 0 &&
			        published[i].fraction == c.check.fate[f];
			published[i].checked |= found;
		}
		if (!found)
			fail_msg("check.%s of %s is no value of data/reference",
				sl_fate_facts[f].name, c.run.name);
	}
	return n;
}

/*
 * Runs a configuration without writing survivors, with another check if one is given. text: of the
 * message.
 */
static void run(const char *path, int code, const char *text, const char *check, bool all)
{
	char particles[64];

	snprintf(particles, sizeof(particles), "run.particles=%d", FEW);
	expect(&folder, code, text,
		WORDS("run", path, "--out", "out", "--set", "output={format: none}",
			check ? "--set" : "--quiet", check ? check : "--quiet",
			all ? NULL : "--set", particles));
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	remove_run(&folder, "out");
}

TEST(results_match_published_values)
{
	static struct configs all;

	read_published("data/reference/slab.txt");
	read_published("data/reference/geometry.txt");
	read_published("data/reference/cavity.txt");
	read_published("data/reference/rays.txt");
	read_published("data/reference/voxels.txt");
	configs_list(&all);
	sl_sampling_one_in(sl_sampling_step(1) > 1 ? 3 : 1); /* they take seconds */
	for (size_t i = 0; i < all.n; i++) {
		char path[CONFIG_PATH_BYTES];

		config_path(all.name[i], path);
		if (checks_of(path) == 0)
			continue;
		print_message("%s\n", all.name[i]);
		run(path, SL_OK, "", NULL, !is_quick() && sl_sampling_selects());
	}
	for (size_t i = 0; i < n_published; i++)
		if (!published[i].checked)
			fail_msg("no configuration checks %s of %s", published[i].fate,
				published[i].name);
	assert_true(n_published >= LEAST_VALUES);
}

/*
 * A value that is off by ten standard errors, or positive where the result is 0, is reported by
 * name.
 */
TEST(wrong_values_are_reported)
{
	static const struct {
		const char *config, *fate;
		double value;
	} wrong[] = {{"vandehulst_diffuse", "transmitted", 0.50181605},
		{"vandehulst_diffuse", "reflected", 0.19109022},
		{"disk_to_disk", "hit", 0.3819660113}, {"beer_lambert", "reflected", 0}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		double p = wrong[i].value, off = p > 0 ? 10 * sqrt(p * (1 - p) / FEW) : 1e-3;
		char path[CONFIG_PATH_BYTES], set[128], text[128];

		config_path(wrong[i].config, path);
		for (int sign = p > 0 ? -1 : 1; sign <= 1; sign += 2) {
			snprintf(set, sizeof(set), "check.%s=%.9f", wrong[i].fate, p + sign * off);
			snprintf(text, sizeof(text), "check.%s: %.7g was expected", wrong[i].fate,
				p + sign * off);
			run(path, SL_CHECK_FAILED, text, set, false);
		}
	}
}
