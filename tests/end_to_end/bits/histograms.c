/*
 * histograms.c - histograms in run.json and HDF5, compared with the survivors of a run that keeps
 * every fate, and with runs of other batch sizes.
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/survivor_file.h"
#include "pipeline/text/yaml.h"
#include "tests/support/runs/histograms_check.h"
#include "stages/formats/formats.h"

enum { BINS_MOST = 64 };

/* --- run.json --------------------------------------------------------------------------------- */

/* One row: the object of one fate in histogram k. */
static sl_node row_of(const struct sl_yaml *tree, size_t k, int fate)
{
	sl_node all = sl_yaml_get(tree, sl_yaml_root(tree), "histograms");
	sl_node h = sl_yaml_item(tree, all, k, NULL);

	assert_string_equal(
		sl_yaml_text(tree, sl_yaml_get(tree, h, "column"), NULL), tallies[k].column);
	return sl_yaml_get(tree, sl_yaml_get(tree, h, "fates"), sl_fate_facts[fate].name);
}

static struct sl_yaml *read_histograms(const char *out)
{
	char *cut = histograms_of(out), *whole = (char *)malloc(strlen(cut) + 3);
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;

	assert_non_null(whole);
	sprintf(whole, "{%s}", cut);
	assert_ok(sl_yaml_parse(whole, strlen(whole), &tree, &problem));
	free(whole);
	free(cut);
	return tree;
}

static double number(const struct sl_yaml *tree, sl_node node)
{
	const char *digits = sl_yaml_text(tree, node, NULL);

	return strcmp(digits, "null") == 0 ? (double)NAN : strtod(digits, NULL);
}

static double item(const struct sl_yaml *tree, sl_node row, const char *key, uint32_t i)
{
	sl_node list = sl_yaml_get(tree, row, key);

	assert_true(i < sl_yaml_size(tree, list));
	return number(tree, sl_yaml_item(tree, list, i, NULL));
}

/* --- recomputed from the survivors ------------------------------------------------------------ */

/* Particles and weight of one row in each batch: below the range, in each bin, above the range. */
struct recount {
	double count[BATCHES][BINS_MOST + 2];
	double weight[BATCHES][BINS_MOST + 2];
};

static double value_at(const struct sl_table *t, enum sl_column which, uint32_t i)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		uint32_t at = c->constant ? 0 : i;

		if (c->column != which)
			continue;
		switch (sl_column_facts[which].type) {
		case SL_TYPE_F32:
			return (double)((const float *)c->data)[at];
		case SL_TYPE_U32:
			return ((const uint32_t *)c->data)[at];
		default:
			return ((const uint8_t *)c->data)[at];
		}
	}
	fail_msg("%s was not written", sl_column_facts[which].name);
	return 0;
}

/*
 * Bin lookup by comparison with explicit edges. Real values at the upper edge belong to the last
 * bin.
 */
static uint32_t bin_of(const struct sl_histogram_axis *f, double v)
{
	double width = (f->hi - f->lo) / f->bins;
	uint32_t bin = 0;

	while (bin <= f->bins && v >= f->lo + bin * width)
		bin++;
	return v == f->hi && sl_column_facts[f->column].type == SL_TYPE_F32 ? f->bins : bin;
}

static void count_survivors(
	const char *out, const struct sl_histogram_axis *f, int fate, struct recount *c)
{
	memset(c, 0, sizeof(*c));
	for (int b = 0; b < BATCHES; b++) {
		struct sl_survivors s;
		char name[64];

		snprintf(name, sizeof(name), "%s/t_%06d.h5", out, b);
		assert_ok(sl_survivors_read_path(folder_path(&folder, name), &s));
		for (uint32_t i = 0; i < s.table.n; i++)
			if ((int)value_at(&s.table, SL_COLUMN_fate, i) == fate) {
				uint32_t bin = bin_of(f, value_at(&s.table, f->column, i));

				c->count[b][bin]++;
				c->weight[b][bin] += value_at(&s.table, SL_COLUMN_weight, i);
			}
		sl_survivors_free(&s);
	}
}

static double sum_of(double count[BATCHES][BINS_MOST + 2], uint32_t bin)
{
	double sum = 0;

	for (int b = 0; b < BATCHES; b++)
		sum += count[b][bin];
	return sum;
}

/* Standard error as in statistics.h: sqrt(sum n_i (x_i - mean)^2 / ((k - 1) N)). */
static double error_of(double count[BATCHES][BINS_MOST + 2], uint32_t bin)
{
	double mean = sum_of(count, bin) / PARTICLES, squares = 0;

	for (int b = 0; b < BATCHES; b++) {
		double n = b < BATCHES - 1 ? BATCH : PARTICLES - (BATCHES - 1) * BATCH;

		squares += n * pow(count[b][bin] / n - mean, 2);
	}
	return sqrt(squares / ((BATCHES - 1.0) * PARTICLES));
}

static void expect_close(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-15))
		fail_msg("%.12g found, %.12g expected", found, expected);
}

/* Checks the row of run.json for histogram k and a fate. Returns its number of particles. */
static double expect_row(
	const struct sl_yaml *tree, const char *out, size_t k, int fate, bool weighted)
{
	const struct sl_histogram_axis *f = &tallies[k].f;
	sl_node row = row_of(tree, k, fate);
	struct recount c;
	double all = 0;

	assert_true(row != 0);
	count_survivors(out, f, fate, &c);
	assert_true(number(tree, sl_yaml_get(tree, row, "under")) == sum_of(c.count, 0));
	assert_true(number(tree, sl_yaml_get(tree, row, "over")) == sum_of(c.count, f->bins + 1));
	assert_int_equal(sl_yaml_size(tree, sl_yaml_get(tree, row, "counts")), f->bins);
	for (uint32_t i = 0; i < f->bins; i++) {
		double(*count)[BINS_MOST + 2] = weighted ? c.weight : c.count;

		if (item(tree, row, "counts", i) != sum_of(c.count, i + 1))
			fail_msg("%s, %s, bin %u: %g and not %g", tallies[k].column,
				sl_fate_facts[fate].name, i, item(tree, row, "counts", i),
				sum_of(c.count, i + 1));
		expect_close(
			item(tree, row, "mean_over_batches", i), sum_of(count, i + 1) / PARTICLES);
		expect_close(
			item(tree, row, "standard_error_over_batches", i), error_of(count, i + 1));
		if (weighted)
			expect_close(item(tree, row, "weights", i), sum_of(c.weight, i + 1));
	}
	for (uint32_t i = 0; i < f->bins + 2; i++)
		all += sum_of(c.count, i);
	return all;
}

/* With implicit capture no particle ends as absorbed, so the items of tallies name other fates. */
static const char weighted_tallies[] =
	"tallies=[w:16, z:8:0 cm..2.5 mm:roulette, steps:4:1..9:reflected, fate:5:0..10]";

static sl_fate_set fates_of(size_t k, bool weighted)
{
	static const sl_fate_set named[N_TALLIES] = {
		0, SL_FATE_BIT(SL_FATE_roulette), SL_FATE_BIT(SL_FATE_reflected), 0};

	return weighted && named[k] ? named[k] : tallies[k].f.fates;
}

static void expect_exact(const char *out, bool weighted)
{
	struct sl_yaml *tree = read_histograms(out);
	double all = 0;

	for (size_t k = 0; k < N_TALLIES; k++)
		for (int fate = 0; fate < SL_FATE_COUNT; fate++)
			if (SL_HAS(fates_of(k, weighted), fate))
				all += expect_row(tree, out, k, fate, weighted);
			else
				assert_true(row_of(tree, k, fate) == 0);
	assert_true(all > 2 * PARTICLES);
	sl_yaml_free(tree);
}

TEST(survivors_give_the_same_counts)
{
	expect_exact("whole", false);
}

/* Particles have different weights, so bins sum weights. */
TEST(weights_are_summed)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
			"model.slab.absorption=implicit", "--set",
			"keep=[transmitted, reflected, roulette]", "--set",
			"model.slab.roulette={below: 0.25, survive: 0.5}", "--set",
			weighted_tallies));
	expect_exact("out", true);
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	remove_run(&folder, "out");
}

/* With another batch size the counts stay the same; only the scatter between batches changes. */
TEST(batch_size_does_not_change_counts)
{
	struct sl_yaml *should = read_histograms("whole"), *is;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "run.batch=777"));
	is = read_histograms("out");
	for (uint32_t k = 0; k < N_TALLIES; k++)
		for (int fate = 0; fate < SL_FATE_COUNT; fate++)
			for (uint32_t i = 0;
				SL_HAS(tallies[k].f.fates, fate) && i < tallies[k].f.bins; i++)
				assert_true(item(is, row_of(is, k, fate), "counts", i) ==
					    item(should, row_of(should, k, fate), "counts", i));
	sl_yaml_free(is);
	sl_yaml_free(should);
	remove_run(&folder, "out");
}

/* The five fates 0 to 4 do not fill four equal integer bins, so the range is extended to 8. */
TEST(integer_range_extends_to_fit_bins)
{
	char *histograms;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "tallies=[fate:4]"));
	histograms = histograms_of("out");
	assert_non_null(strstr(histograms, "\"from\": 0,\n\t\t\t\t\"to\": 8,"));
	free(histograms);
	remove_run(&folder, "out");
}

/* --- plan and HDF5 ---------------------------------------------------------------------------- */

TEST(plan_lists_histograms)
{
	char *plan = output_of(&folder, WORDS("plan", "c.yaml"));
	char *help = output_of(&folder, WORDS("help", "tallies"));

	/* 5 fates of 18, one of 10, two of 6, five of 7 */
	assert_non_null(
		strstr(plan, "w:16, z:8, steps:4, fate:5: 147 counters, 1.1 KiB per batch"));
	assert_non_null(strstr(help, "z:40:0 cm..0.02 cm:absorbed"));
	free(plan);
	free(help);
}

static void read_dataset(hid_t file, const char *name, hid_t type, hsize_t n, void *values)
{
	hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space;

	assert_true(dataset >= 0);
	space = H5Dget_space(dataset);
	assert_int_equal(H5Sget_simple_extent_npoints(space), n);
	assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
	H5Sclose(space);
	H5Dclose(dataset);
}

TEST(hdf5_has_the_same_counts)
{
	hid_t file = H5Fopen(folder_path(&folder, "whole/t.tallies"), H5F_ACC_RDONLY, H5P_DEFAULT);
	struct sl_yaml *tree = read_histograms("whole");
	sl_node row = row_of(tree, 1, SL_FATE_absorbed);
	double edge[9], count[8], weight[8], mean[8], error[8];

	assert_true(file >= 0);
	read_dataset(file, "z/edges", H5T_NATIVE_DOUBLE, 9, edge);
	read_dataset(file, "z/absorbed/count", H5T_NATIVE_DOUBLE, 8, count);
	read_dataset(file, "z/absorbed/weight", H5T_NATIVE_DOUBLE, 8, weight);
	read_dataset(file, "z/absorbed/mean", H5T_NATIVE_DOUBLE, 8, mean);
	read_dataset(file, "z/absorbed/standard_error", H5T_NATIVE_DOUBLE, 8, error);
	for (uint32_t i = 0; i < 8; i++) {
		assert_true(edge[i] == i * 0.25 / 8);
		assert_true(count[i] > 0 && count[i] == item(tree, row, "counts", i));
		assert_true(weight[i] == count[i]);
		assert_true(mean[i] == item(tree, row, "mean_over_batches", i));
		assert_true(error[i] == item(tree, row, "standard_error_over_batches", i));
	}
	assert_true(edge[8] == 0.25);
	H5Fclose(file);
	sl_yaml_free(tree);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	tallies_begin();
}
