/*
 * histograms_resumed.c - histograms are identical for all options of a run, and stay correct after
 * damage, --resume and --force.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/runs/histograms_check.h"

/* --- options of a run ------------------------------------------------------------------------- */

static void expect_same(const char *out)
{
	char *found = histograms_of(out), *expected = histograms_of("whole");

	assert_string_equal(found, expected);
	assert_true(hash_run(&folder, out) == reference_hash);
	free(found);
	free(expected);
}

TEST(run_options_do_not_change_histograms)
{
	static const char *const options[][4] = {
		{"--device", "cpu", "--threads", "3"},
		{"--device", "emulated", "--mode", "staged"},
		{"--device", "emulated", "--mode", "fused"},
		{"--device", "emulated", "--set", "run.slots=2"},
	};
	static const char *const baseline[] = {"SL_LEVEL=baseline", NULL};
	struct ending e;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet",
			options[i][0], options[i][1], options[i][2], options[i][3]);

		call(&folder, i == 0 ? baseline : NULL, words, &e);
		expect_ending(&e, SL_OK, "", words);
		expect_same("out");
		remove_run(&folder, "out");
	}
}

/* The printed configuration gives the same run. */
TEST(printed_configuration_reads_back)
{
	char *config = output_of(&folder, WORDS("run", "c.yaml", "--print-config"));

	write_text(&folder, "printed.yaml", config);
	expect(&folder, SL_OK, "", WORDS("run", "printed.yaml", "--out", "out", "--quiet"));
	expect_same("out");
	remove_run(&folder, "out");
	free(config);
}

TEST(csv_runs_have_no_hdf5)
{
	char *found, *expected;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "output.format=csv.gz"));
	found = histograms_of("out");
	expected = histograms_of("whole");
	assert_string_equal(found, expected);
	assert_false(folder_has(&folder, "out/t.tallies"));
	assert_true(folder_has(&folder, "out/t_000003.bins"));
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	free(found);
	free(expected);
	remove_run(&folder, "out");
}

/* --- damage ----------------------------------------------------------------------------------- */

static void keep_three_batches(void)
{
	keep_batches(&folder, "out", 3);
}

/* The histograms of another seed, in a valid file. */
static void replace_by_other_histograms(void)
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

/* Damages a copy, requires verify to report it, and resumes it. */
static void check_damage(const char *what, const char *name, const char *message)
{
	copy_run(&folder, "whole", "out");
	if (strcmp(what, "flip") == 0)
		folder_flip(&folder, name, 1, 2);
	else if (strcmp(what, "cut") == 0)
		assert_int_equal(truncate(folder_path(&folder, name), 8), 0);
	else if (strcmp(what, "remove") == 0)
		assert_int_equal(unlink(folder_path(&folder, name)), 0);
	else if (strcmp(what, "replace") == 0)
		replace_by_other_histograms();
	else
		keep_three_batches();
	expect(&folder, SL_CHECK_FAILED, message, WORDS("verify", "out"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	expect_same("out");
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}

TEST(damage_is_reported_and_repaired)
{
	check_damage("flip", "out/t_000002.bins", "size or checksum is not that of the manifest");
	check_damage("cut", "out/t_000000.bins", "size or checksum is not that of the manifest");
	check_damage("remove", "out/t_000003.bins", "the histogram file is missing");
	check_damage("remove the last batch", NULL, "3 of 4 batches are committed");
	check_damage("flip", "out/t.tallies", "differs from the sum");
	check_damage("cut", "out/t.tallies", "differs from the sum");
	check_damage("remove", "out/t.tallies", "out/t.tallies: the file is missing");
	check_damage("replace", "out/t.tallies",
		"the file differs from the sum of the batches' histograms");
}

/* The process was killed after it committed one of the two files of a batch. */
TEST(run_killed_between_two_files_resumes)
{
	copy_run(&folder, "whole", "out");
	keep_three_batches();
	assert_int_equal(unlink(folder_path(&folder, "out/t_000003.bins")), 0);
	write_text(&folder, "out/t_000003.bins.part", "half");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	expect_same("out");
	remove_run(&folder, "out");
}

/* --- other runs ------------------------------------------------------------------------------- */

TEST(other_histograms_make_another_run)
{
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration",
		WORDS("run", "c.yaml", "--out", "whole", "--resume", "--set", "tallies=[w:8]"));
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration",
		WORDS("run", "c.yaml", "--out", "whole", "--resume", "--set", "tallies=[]"));
}

/*
 * --force removes all files of the existing run; a new run does not overwrite files of the same
 * name.
 */
TEST(force_removes_all_histogram_files)
{
	copy_run(&folder, "whole", "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--force", "--quiet", "--set",
			"tallies=[]"));
	assert_false(folder_has(&folder, "out/t.tallies"));
	assert_false(folder_has(&folder, "out/t_000000.bins"));
	remove_run(&folder, "out");
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	write_text(&folder, "out/t_000001.bins", "of somebody");
	expect(&folder, SL_OUTPUT_IN_USE, "t_000001.bins: the file exists",
		WORDS("run", "c.yaml", "--out", "out"));
	assert_int_equal(unlink(folder_path(&folder, "out/t_000001.bins")), 0);
	write_text(&folder, "out/t.tallies", "of somebody");
	expect(&folder, SL_OUTPUT_IN_USE, "t.tallies: the file exists",
		WORDS("run", "c.yaml", "--out", "out"));
	remove_run(&folder, "out");
}

BEFORE_TESTS()
{
	tallies_begin();
}
