/*
 * published.c - runs every configuration in data/configs that has a check, and compares the result
 * with the published value.
 *
 * Runs use all particles, or 2e5 of them in a sanitizer build or with SLUICE_QUICK set. If a share of
 * the variants is tested (tests/cases/sampling.h), the same share of the configurations use all.
 */
#include <math.h>
#include <stdio.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/config/config.h"
#include "primitives/device/device.h"
#include "tests/cases/sampling.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/program.h"

enum { VALUES_MAX = 256, LEAST_VALUES = 10 };

#define QUICK "run.particles=2e5"

/* One line of data/reference. */
struct published {
	char name[64];
	enum sl_fate fate;
	double fraction;
	bool checked;
};

static struct published published[VALUES_MAX];
static size_t n_published;

static void read_published(const char *file)
{
	char path[4096], line[1024], fate[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/data/reference/%s", source_root(), file);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct published *p = &published[n_published];

		if (line[0] == '#')
			continue;
		assert_true(n_published < VALUES_MAX);
		assert_int_equal(sscanf(line, "%63s %63s %lf", p->name, fate, &p->fraction), 3);
		p->fate = sl_fate_find(fate);
		assert_true(p->fate < SL_FATE_COUNT);
		n_published++;
	}
	fclose(f);
}

static void read_config(const char *path, struct sl_config *c)
{
	struct sl_reader *reader;

	assert_ok(sl_config_open(path, NULL, 0, c, &reader));
	assert_ok(sl_config_verdict(reader));
	sl_config_close(reader);
}

static bool has_check(const struct sl_config *c)
{
	bool any = false;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		any |= !isnan(c->check.fate[f]);
	return any;
}

/* Each value in a configuration equals the published value, to the last digit. */
static void compare(const struct sl_config *c)
{
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		bool found = isnan(c->check.fate[f]);

		for (size_t i = 0; i < n_published && !found; i++) {
			struct published *p = &published[i];

			found = strcmp(p->name, c->run.name) == 0 && (int)p->fate == f &&
			        !(fabs(p->fraction - c->check.fate[f]) > 0);
			p->checked |= found;
		}
		if (!found)
			fail_msg("check.%s of %s is no value of data/reference",
				sl_fate_facts[f].name, c->run.name);
	}
}

static void run_one(const struct folder *folder, const char *path, const struct sl_config *c)
{
	double start = seconds_now();

	if (is_quick() || !sl_sampling_selects())
		expect(folder, SL_OK, "", WORDS("run", path, "--out", "out", "--set", QUICK));
	else
		expect(folder, SL_OK, "", WORDS("run", path, "--out", "out"));
	print_message("%s: met, %.1f s\n", c->run.name, seconds_now() - start);
	remove_run(folder, "out");
}

TEST(results_match_published_values)
{
	static struct configs all;
	struct folder folder;
	size_t covered = 0;

	read_published("slab.txt");
	read_published("geometry.txt");
	read_published("cavity.txt");
	read_published("rays.txt");
	folder_make(&folder);
	configs_list(&all);
	for (size_t i = 0; i < all.n; i++) {
		static struct sl_config config;
		char path[CONFIG_PATH_BYTES];

		config_path(all.name[i], path);
		read_config(path, &config);
		if (!has_check(&config))
			continue;
		compare(&config);
		run_one(&folder, path, &config);
	}
	for (size_t i = 0; i < n_published; i++) {
		if (!published[i].checked)
			fail_msg("no configuration checks %s of %s",
				sl_fate_facts[published[i].fate].name, published[i].name);
		covered++;
	}
	print_message("%zu published values\n", covered);
	assert_true(covered >= LEAST_VALUES);
	folder_remove(&folder);
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
	} wrong[] = {
		{"vandehulst_diffuse", "transmitted", 0.50181605},
		{"vandehulst_diffuse", "reflected", 0.19109022},
		{"disk_to_disk", "hit", 0.3819660113},
		{"beer_lambert", "reflected", 0},
	};
	struct folder folder;

	folder_make(&folder);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		double p = wrong[i].value, off = p > 0 ? 10 * sqrt(p * (1 - p) / 2e5) : 1e-3;
		char path[CONFIG_PATH_BYTES], set[128], text[128];

		config_path(wrong[i].config, path);
		for (int sign = p > 0 ? -1 : 1; sign <= 1; sign += 2) {
			snprintf(set, sizeof(set), "check.%s=%.9f", wrong[i].fate, p + sign * off);
			snprintf(text, sizeof(text), "check.%s: %.7g was expected", wrong[i].fate,
				p + sign * off);
			expect(&folder, SL_CHECK_FAILED, text,
				WORDS("run", path, "--out", "out", "--set", set, "--set", QUICK));
			assert_string_equal(run_json(&folder, "out", "state"), "done");
			remove_run(&folder, "out");
		}
	}
	folder_remove(&folder);
}
