/*
 * tallies.c - tallies by bins of whole runs: against the survivors of a run that keeps every fate,
 * the same from every way to run it, and kept through damage, --resume and --force.
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/survivors.h"
#include "pipeline/tree.h"
#include "stages/bins.h"
#include "tests/support/whole.h"

enum { PARTICLES = 6010, BATCH = 2000, BATCHES = 4, BINS_MOST = 64 };

/* Edges are powers of two apart, so that the test's own comparisons are exact. */
static const char text[] =
	"run: {name: t, seed: 7, particles: 6010, batch: 2000}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.5 cm}}\n"
	"keep: [transmitted, reflected, absorbed]\n"
	"key: [w:16]\n"
	"tallies: [w:16, z:8:0 cm..2.5 mm:absorbed, steps:4:1..9:reflected+absorbed, "
	"fate:5:0..10]\n";

static const struct tally {
	const char *column;
	struct sl_bins_field f;
} tallies[] = {
	{"w", {SL_COLUMN_w, 16,
		      SL_BIT(SL_FATE_reflected) | SL_BIT(SL_FATE_transmitted) |
			      SL_BIT(SL_FATE_absorbed) | SL_BIT(SL_FATE_max_steps) |
			      SL_BIT(SL_FATE_roulette),
		      -1, 1}},
	{"z", {SL_COLUMN_z, 8, SL_BIT(SL_FATE_absorbed), 0, 0.25}},
	{"steps", {SL_COLUMN_steps, 4, SL_BIT(SL_FATE_reflected) | SL_BIT(SL_FATE_absorbed), 1, 9}},
	{"fate", {SL_COLUMN_fate, 5,
			 SL_BIT(SL_FATE_reflected) | SL_BIT(SL_FATE_transmitted) |
				 SL_BIT(SL_FATE_absorbed) | SL_BIT(SL_FATE_max_steps) |
				 SL_BIT(SL_FATE_roulette),
			 0, 10}},
};
enum { N_TALLIES = sizeof(tallies) / sizeof(tallies[0]) };

static int begin(void **state)
{
	(void)state;
	whole_begin(text);
	return 0;
}

/* --- run.json --------------------------------------------------------------------------------- */

/* The histograms of a run, to be freed: as text. */
static char *histograms_of(const char *out)
{
	char name[64];
	size_t bytes;
	char *all, *from, *to, *cut;

	snprintf(name, sizeof(name), "%s/run.json", out);
	all = folder_read(&folder, name, &bytes);
	from = strstr(all, "\"histograms\": [");
	assert_non_null(from);
	to = strstr(from, "\n\t\t]");
	assert_non_null(to);
	cut = strndup(from, (size_t)(to - from) + 4);
	free(all);
	return cut;
}

/* One row: the member of a fate in histogram k. */
static sl_node row_of(const struct sl_tree *tree, size_t k, int fate)
{
	sl_node all = sl_tree_get(tree, sl_tree_root(tree), "histograms");
	sl_node h = sl_tree_item(tree, all, k, NULL);

	assert_string_equal(
		sl_tree_text(tree, sl_tree_get(tree, h, "column"), NULL), tallies[k].column);
	return sl_tree_get(tree, sl_tree_get(tree, h, "fates"), sl_fate_facts[fate].name);
}

static struct sl_tree *read_histograms(const char *out)
{
	char *cut = histograms_of(out), *whole = (char *)malloc(strlen(cut) + 3);
	struct sl_problem problem;
	struct sl_tree *tree;

	assert_non_null(whole);
	sprintf(whole, "{%s}", cut);
	assert_ok(sl_tree_parse(whole, strlen(whole), &tree, &problem));
	free(whole);
	free(cut);
	return tree;
}

static double number(const struct sl_tree *tree, sl_node node)
{
	const char *digits = sl_tree_text(tree, node, NULL);

	return strcmp(digits, "null") == 0 ? (double)NAN : strtod(digits, NULL);
}

static double item(const struct sl_tree *tree, sl_node row, const char *key, uint32_t i)
{
	sl_node list = sl_tree_get(tree, row, key);

	assert_true(i < sl_tree_size(tree, list));
	return number(tree, sl_tree_item(tree, list, i, NULL));
}

/* --- the same from the survivors -------------------------------------------------------------- */

/* Counts of a row: below, bins, above; of each batch. */
struct counted {
	double of[BATCHES][BINS_MOST + 2];
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

/* Among edges, by comparing; real numbers at the upper end are in the last bin. */
static uint32_t bin_of(const struct sl_bins_field *f, double v)
{
	double width = (f->hi - f->lo) / f->bins;
	uint32_t bin = 0;

	while (bin <= f->bins && v >= f->lo + bin * width)
		bin++;
	return v == f->hi && sl_column_facts[f->column].type == SL_TYPE_F32 ? f->bins : bin;
}

static void count_again(const char *out, const struct sl_bins_field *f, int fate, struct counted *c)
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

				c->of[b][bin]++;
				c->weight[b][bin] += value_at(&s.table, SL_COLUMN_weight, i);
			}
		sl_survivors_free(&s);
	}
}

static double sum_of(double of[BATCHES][BINS_MOST + 2], uint32_t bin)
{
	double sum = 0;

	for (int b = 0; b < BATCHES; b++)
		sum += of[b][bin];
	return sum;
}

/* As precision.h has it: sqrt(sum n_i (x_i - mean)^2 / ((k - 1) N)). */
static double error_of(double of[BATCHES][BINS_MOST + 2], uint32_t bin)
{
	double mean = sum_of(of, bin) / PARTICLES, squares = 0;

	for (int b = 0; b < BATCHES; b++) {
		double n = b < BATCHES - 1 ? BATCH : PARTICLES - (BATCHES - 1) * BATCH;

		squares += n * pow(of[b][bin] / n - mean, 2);
	}
	return sqrt(squares / ((BATCHES - 1.0) * PARTICLES));
}

static void expect_close(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-15))
		fail_msg("%.12g found, %.12g expected", found, expected);
}

/* What run.json says of histogram k and a fate. Returns how many particles there are. */
static double expect_row(
	const struct sl_tree *tree, const char *out, size_t k, int fate, bool weighted)
{
	const struct sl_bins_field *f = &tallies[k].f;
	sl_node row = row_of(tree, k, fate);
	struct counted c;
	double all = 0;

	assert_true(row != 0);
	count_again(out, f, fate, &c);
	assert_true(number(tree, sl_tree_get(tree, row, "under")) == sum_of(c.of, 0));
	assert_true(number(tree, sl_tree_get(tree, row, "over")) == sum_of(c.of, f->bins + 1));
	assert_int_equal(sl_tree_size(tree, sl_tree_get(tree, row, "counts")), f->bins);
	for (uint32_t i = 0; i < f->bins; i++) {
		double(*of)[BINS_MOST + 2] = weighted ? c.weight : c.of;

		if (item(tree, row, "counts", i) != sum_of(c.of, i + 1))
			fail_msg("%s, %s, bin %u: %g and not %g", tallies[k].column,
				sl_fate_facts[fate].name, i, item(tree, row, "counts", i),
				sum_of(c.of, i + 1));
		expect_close(
			item(tree, row, "mean_over_batches", i), sum_of(of, i + 1) / PARTICLES);
		expect_close(
			item(tree, row, "standard_error_over_batches", i), error_of(of, i + 1));
		if (weighted)
			expect_close(item(tree, row, "weights", i), sum_of(c.weight, i + 1));
	}
	for (uint32_t i = 0; i < f->bins + 2; i++)
		all += sum_of(c.of, i);
	return all;
}

static void expect_exact(const char *out, bool weighted)
{
	struct sl_tree *tree = read_histograms(out);
	double all = 0;

	for (size_t k = 0; k < N_TALLIES; k++)
		for (int fate = 0; fate < SL_FATE_COUNT; fate++)
			if (SL_HAS(tallies[k].f.fates, fate))
				all += expect_row(tree, out, k, fate, weighted);
			else
				assert_true(row_of(tree, k, fate) == 0);
	assert_true(all > 2 * PARTICLES);
	sl_tree_free(tree);
}

static void survivors_give_the_same(void **state)
{
	(void)state;
	expect_exact("whole", false);
}

/* Weights differ, and are summed. */
static void weights_are_summed(void **state)
{
	(void)state;
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
			"model.slab.absorption=implicit", "--set",
			"keep=[transmitted, reflected, roulette]", "--set",
			"model.slab.roulette={below: 0.25, survive: 0.5}"));
	expect_exact("out", true);
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	remove_run(&folder, "out");
}

/* --- every way -------------------------------------------------------------------------------- */

static void expect_same(const char *out)
{
	char *is = histograms_of(out), *should = histograms_of("whole");

	assert_string_equal(is, should);
	assert_true(hash_run(&folder, out) == unbroken);
	free(is);
	free(should);
}

static void any_way(void **state)
{
	static const char *const ways[][4] = {
		{"--device", "cpu", "--threads", "3"},
		{"--device", "emulated", "--mode", "staged"},
		{"--device", "emulated", "--mode", "fused"},
		{"--device", "emulated", "--set", "run.slots=2"},
	};
	static const char *const baseline[] = {"SL_LEVEL=baseline", NULL};
	struct ending e;

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet",
			ways[i][0], ways[i][1], ways[i][2], ways[i][3]);

		call(&folder, i == 0 ? baseline : NULL, words, &e);
		expect_ending(&e, SL_OK, "", words);
		expect_same("out");
		remove_run(&folder, "out");
	}
}

/* Another size of batches: the counts are those, the scatter is another. */
static void any_batch(void **state)
{
	struct sl_tree *should = read_histograms("whole"), *is;

	(void)state;
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "run.batch=777"));
	is = read_histograms("out");
	for (uint32_t k = 0; k < N_TALLIES; k++)
		for (int fate = 0; fate < SL_FATE_COUNT; fate++)
			for (uint32_t i = 0;
				SL_HAS(tallies[k].f.fates, fate) && i < tallies[k].f.bins; i++)
				assert_true(item(is, row_of(is, k, fate), "counts", i) ==
					    item(should, row_of(should, k, fate), "counts", i));
	sl_tree_free(is);
	sl_tree_free(should);
	remove_run(&folder, "out");
}

/* What is printed is the same run. */
static void printed_and_read_back(void **state)
{
	char *config = output_of(&folder, WORDS("run", "c.yaml", "--print-config"));

	(void)state;
	write_text(&folder, "printed.yaml", config);
	expect(&folder, SL_OK, "", WORDS("run", "printed.yaml", "--out", "out", "--quiet"));
	expect_same("out");
	remove_run(&folder, "out");
	free(config);
}

/* Fates up to number 4 have no range of four bins: the range is made longer, to 8. */
static void a_range_of_whole_numbers_fits_its_bins(void **state)
{
	char *histograms;

	(void)state;
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "tallies=[fate:4]"));
	histograms = histograms_of("out");
	assert_non_null(strstr(histograms, "\"from\": 0,\n\t\t\t\t\"to\": 8,"));
	free(histograms);
	remove_run(&folder, "out");
}

static void told_by_plan(void **state)
{
	char *plan = output_of(&folder, WORDS("plan", "c.yaml"));
	char *help = output_of(&folder, WORDS("help", "tallies"));

	(void)state;
	/* 5 fates of 18, one of 10, two of 6, five of 7 */
	assert_non_null(strstr(plan, "w:16, z:8, steps:4, fate:5: 147 counters, 1.1 KiB a batch"));
	assert_non_null(strstr(help, "z:40:0 cm..0.02 cm:absorbed"));
	free(plan);
	free(help);
}

/* --- files ------------------------------------------------------------------------------------ */

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

static void hdf5_has_the_same(void **state)
{
	hid_t file = H5Fopen(folder_path(&folder, "whole/t.tallies"), H5F_ACC_RDONLY, H5P_DEFAULT);
	struct sl_tree *tree = read_histograms("whole");
	sl_node row = row_of(tree, 1, SL_FATE_absorbed);
	double edge[9], count[8], weight[8], mean[8], error[8];

	(void)state;
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
	sl_tree_free(tree);
}

static void csv_runs_have_no_hdf5(void **state)
{
	char *is, *should;

	(void)state;
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "output.format=csv.gz"));
	is = histograms_of("out");
	should = histograms_of("whole");
	assert_string_equal(is, should);
	assert_false(folder_has(&folder, "out/t.tallies"));
	assert_true(folder_has(&folder, "out/t_000003.bins"));
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	free(is);
	free(should);
	remove_run(&folder, "out");
}

/* --- damage ----------------------------------------------------------------------------------- */

static void flip_byte(const char *name)
{
	size_t bytes;
	char *file = folder_read(&folder, name, &bytes);

	file[bytes / 2] ^= 1;
	folder_write(&folder, name, file, bytes);
	free(file);
}

static void lose_tail(void)
{
	size_t bytes;
	char *lines = folder_read(&folder, "out/manifest.jsonl", &bytes), *last;

	lines[bytes - 1] = '\0';
	last = strrchr(lines, '\n');
	folder_write(&folder, "out/manifest.jsonl", lines, (size_t)(last + 1 - lines));
	free(lines);
}

/* The tallies of another seed, whose file is whole. */
static void put_others(void)
{
	size_t bytes;
	char *file;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "seed", "--quiet", "--set", "run.seed=8"));
	file = folder_read(&folder, "seed/t.tallies", &bytes);
	folder_write(&folder, "out/t.tallies", file, bytes);
	free(file);
	remove_run(&folder, "seed");
}

/* Damages a copy, lets verify say so, and goes on with it. */
static void damaged(const char *what, const char *name, const char *say)
{
	copy_run(&folder, "whole", "out");
	if (strcmp(what, "flip") == 0)
		flip_byte(name);
	else if (strcmp(what, "cut") == 0)
		assert_int_equal(truncate(folder_path(&folder, name), 8), 0);
	else if (strcmp(what, "remove") == 0)
		assert_int_equal(unlink(folder_path(&folder, name)), 0);
	else if (strcmp(what, "another's") == 0)
		put_others();
	else
		lose_tail();
	expect(&folder, SL_CHECK_FAILED, say, WORDS("verify", "out"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	expect_same("out");
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}

static void damage_is_found_and_mended(void **state)
{
	(void)state;
	damaged("flip", "out/t_000002.bins", "size or checksum is not that of the manifest");
	damaged("cut", "out/t_000000.bins", "size or checksum is not that of the manifest");
	damaged("remove", "out/t_000003.bins", "is not there");
	damaged("lose the tail", NULL, "3 of 4 batches are committed");
	damaged("flip", "out/t.tallies", "its checksum is wrong");
	damaged("cut", "out/t.tallies", "its checksum is wrong");
	damaged("remove", "out/t.tallies", "out/t.tallies: is not there");
	damaged("another's", "out/t.tallies", "is not what the tallies of the batches add up to");
}

/* A batch of which only the one file was committed when the process was killed. */
static void a_kill_between_two_files(void **state)
{
	(void)state;
	copy_run(&folder, "whole", "out");
	lose_tail();
	assert_int_equal(unlink(folder_path(&folder, "out/t_000003.bins")), 0);
	write_text(&folder, "out/t_000003.bins.part", "half");
	write_text(&folder, "out/t_000009.bins", "of no batch");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	expect_same("out");
	remove_run(&folder, "out");
}

/* --- other runs ------------------------------------------------------------------------------- */

static void other_tallies_are_another_run(void **state)
{
	(void)state;
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration",
		WORDS("run", "c.yaml", "--out", "whole", "--resume", "--set", "tallies=[w:8]"));
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration",
		WORDS("run", "c.yaml", "--out", "whole", "--resume", "--set", "tallies=[]"));
}

/* --force leaves nothing of the run before; a new run does not write over files of the name. */
static void no_file_is_left(void **state)
{
	(void)state;
	copy_run(&folder, "whole", "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--force", "--quiet", "--set",
			"tallies=[]"));
	assert_false(folder_has(&folder, "out/t.tallies"));
	assert_false(folder_has(&folder, "out/t_000000.bins"));
	remove_run(&folder, "out");
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	write_text(&folder, "out/t_000001.bins", "of somebody");
	expect(&folder, SL_OUTPUT_IN_USE, "t_000001.bins: is there already",
		WORDS("run", "c.yaml", "--out", "out"));
	assert_int_equal(unlink(folder_path(&folder, "out/t_000001.bins")), 0);
	write_text(&folder, "out/t.tallies", "of somebody");
	expect(&folder, SL_OUTPUT_IN_USE, "t.tallies: is there already",
		WORDS("run", "c.yaml", "--out", "out"));
	remove_run(&folder, "out");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survivors_give_the_same),
		cmocka_unit_test(weights_are_summed),
		cmocka_unit_test(any_way),
		cmocka_unit_test(any_batch),
		cmocka_unit_test(printed_and_read_back),
		cmocka_unit_test(a_range_of_whole_numbers_fits_its_bins),
		cmocka_unit_test(told_by_plan),
		cmocka_unit_test(hdf5_has_the_same),
		cmocka_unit_test(csv_runs_have_no_hdf5),
		cmocka_unit_test(damage_is_found_and_mended),
		cmocka_unit_test(a_kill_between_two_files),
		cmocka_unit_test(other_tallies_are_another_run),
		cmocka_unit_test(no_file_is_left),
	};

	if (sl_formats_start() != SL_OK)
		return 1;
	return cmocka_run_group_tests(tests, begin, whole_end);
}
