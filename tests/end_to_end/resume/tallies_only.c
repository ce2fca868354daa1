/*
 * tallies_only.c - output.format: none has the tallies and the digests of a run with files, resumes,
 * and is verified by recomputation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/runs/reference_run.h"

enum { BATCHES = 16, KEPT = 5 };

static const char text[] = "run: {name: t, seed: 7, particles: 15500, batch: 1000, threads: 2}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n"
			   "tallies: [w:50, z:40]\n"
			   "output: {format: none}\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
}

/* Reads a file of the reference run and one of another run; both are freed by the caller. */
static void expect_equal_files(const char *a, const char *b)
{
	size_t n_a, n_b;
	char *bytes_a = folder_read(&folder, a, &n_a), *bytes_b = folder_read(&folder, b, &n_b);

	assert_int_equal(n_a, n_b);
	assert_memory_equal(bytes_a, bytes_b, n_a);
	free(bytes_a);
	free(bytes_b);
}

TEST(tallies_and_digests_are_those_of_a_run_with_files)
{
	static const char *const devices[] = {"cpu", "emulated"};
	struct sl_manifest none, files;

	for (size_t d = 0; d < 2; d++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "files", "--quiet", "--device", devices[d],
				"--set", "output.format=openpmd"));
		read_manifest(&folder, "whole", &none);
		read_manifest(&folder, "files", &files);
		assert_int_equal(none.n, BATCHES);
		assert_int_equal(files.n, BATCHES);
		for (size_t i = 0; i < BATCHES; i++) {
			const struct sl_manifest_line *a = &none.line[i], *b = &files.line[i];

			assert_int_equal(a->survivors, b->survivors);
			assert_int_equal(a->columns, b->columns);
			assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
			assert_memory_equal(a->digest, b->digest, sizeof(a->digest));
			assert_int_equal(a->bins_crc, b->bins_crc);
			assert_string_equal(a->file, "");
		}
		sl_manifest_free(&none);
		sl_manifest_free(&files);
		expect_equal_files("whole/t.tallies", "files/t.tallies");
		remove_run(&folder, "files");
	}
}

TEST(no_file_of_survivors_is_written)
{
	char *info = output_of(&folder, WORDS("info", "whole"));
	struct folder run;

	snprintf(run.path, sizeof(run.path), "%s", folder_path(&folder, "whole"));
	/* LOCK, run.json, manifest.jsonl, t.tallies, and histograms of each batch */
	assert_int_equal(folder_count(&run), 4 + BATCHES);
	assert_non_null(strstr(info, "format none, done"));
	assert_non_null(strstr(info, "transmitted"));
	free(info);
}

TEST(verify_recomputes_a_batch)
{
	char *verified = output_of(&folder, WORDS("verify", "whole"));
	char line[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest m;

	assert_non_null(strstr(verified, "16 of 16 batches are correct"));
	assert_non_null(strstr(verified, "digests of one batch, recomputed"));
	free(verified);
	/* a wrong digest with a right checksum of the line */
	copy_run(&folder, "whole", "out");
	read_manifest(&folder, "out", &m);
	m.line[0].digest[SL_COLUMN_x]++;
	folder_write(&folder, "out/manifest.jsonl", line, sl_manifest_print(&m.line[0], line));
	sl_manifest_free(&m);
	expect(&folder, SL_CHECK_FAILED,
		"batch 0: the digest of column x differs from the manifest; the manifest was changed",
		WORDS("verify", "out"));
	remove_run(&folder, "out");
	/* histograms of another batch */
	copy_run(&folder, "whole", "out");
	folder_flip(&folder, "out/t_000004.bins", 1, 2);
	expect(&folder, SL_CHECK_FAILED, "t_000004.bins", WORDS("verify", "out"));
	reference_run_resume();
}

TEST(a_run_resumes_with_the_same_bytes)
{
	copy_run(&folder, "whole", "out");
	keep_batches(&folder, "out", KEPT);
	reference_run_resume();
	/* without histograms, nothing but the manifest says which batches are done */
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "a", "--quiet", "--set", "tallies=[]"));
	copy_run(&folder, "a", "b");
	keep_batches(&folder, "b", KEPT);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "b", "--quiet", "--set", "tallies=[]", "--resume"));
	assert_true(hash_run(&folder, "a") == hash_run(&folder, "b"));
	expect(&folder, SL_OK, "", WORDS("verify", "b"));
	remove_run(&folder, "a");
	remove_run(&folder, "b");
}

/* With an empty suffix, the name of a batch alone could look like a file of the run. */
TEST(files_of_the_user_stay)
{
	static const char *const mine[] = {"out/t_000003", "out/t_000003.h5", "out/t_000099.part"};

	copy_run(&folder, "whole", "out");
	for (size_t i = 0; i < 3; i++)
		write_text(&folder, mine[i], "mine");
	keep_batches(&folder, "out", KEPT);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet", "--force"));
	for (size_t i = 0; i < 3; i++) {
		expect_file(&folder, mine[i], "mine");
		assert_int_equal(unlink(folder_path(&folder, mine[i])), 0);
	}
	reference_run_resume();
}

TEST(what_needs_survivors_is_refused)
{
	expect(&folder, SL_USAGE, "no files of survivors (output.format: none)",
		WORDS("convert", "whole", "--to", "x.h5"));
	expect(&folder, SL_OK, "", WORDS("convert", "whole", "--to", "x.tallies"));
	expect_equal_files("x.tallies", "whole/t.tallies");
	assert_int_equal(unlink(folder_path(&folder, "x.tallies")), 0);
	write_text(&folder, "list.yaml",
		"run: {name: l}\nmodel: {list: {files: [whole]}}\nkeep: listed\n");
	expect(&folder, SL_USAGE, "without files of survivors", WORDS("plan", "list.yaml"));
}

/* Parts without files of survivors are joined to the run of one process. */
TEST(parts_are_joined)
{
	static const char *const parts[] = {"1/3", "2/3", "3/3"};

	for (size_t i = 0; i < 3; i++)
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "parts", "--quiet", "--part", parts[i]));
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "out", "--quiet"));
	remove_run(&folder, "parts");
	reference_run_resume();
}

/* The sums of two runs have the particles of all their batches. */
TEST(tallies_of_two_runs_are_added)
{
	char *info;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "two", "--quiet", "--set", "run.seed=8"));
	expect(&folder, SL_OK, "", WORDS("convert", "whole", "two", "--to", "sum.tallies"));
	info = output_of(&folder, WORDS("info", "sum.tallies"));
	assert_non_null(strstr(info, "31000 particles"));
	free(info);
	assert_int_equal(unlink(folder_path(&folder, "sum.tallies")), 0);
	remove_run(&folder, "two");
}
