/*
 * compare_cleanup.c - how sluice compare ends: it leaves no files and changes no files of the user,
 * after any fault or interrupt.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/text/yaml.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { INTERRUPTED = 128 + SIGINT };

static const char text[] = "run: {name: t, seed: 7, particles: 1500, batch: 400, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:9]\n";

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	write_slow(&folder, "slow.yaml");
	folder_remember();
}

TEST(no_parent_folders_are_created)
{
	expect(&folder, SL_OK, "",
		WORDS("compare", "c.yaml", "--device", "cpu", "--out", "a/b/c/", "--quiet"));
	expect_untouched();
	assert_int_equal(mkdir(folder_path(&folder, "a"), 0777), 0);
	expect(&folder, SL_OK, "",
		WORDS("compare", "c.yaml", "--device", "cpu", "--out", "a/b/c", "--quiet"));
	assert_true(folder_has(&folder, "a"));
	assert_false(folder_has(&folder, "a/b"));
	remove_run(&folder, "a");
	expect_untouched();
}

/* An existing folder belongs to the user. */
TEST(existing_folder_is_kept)
{
	assert_int_equal(mkdir(folder_path(&folder, "a.compare"), 0777), 0);
	write_text(&folder, "a.compare/t_000000.h5", "mine");
	expect(&folder, SL_OUTPUT_IN_USE, "the temporary directory exists",
		WORDS("compare", "c.yaml", "--device", "cpu", "--out", "a"));
	expect_file(&folder, "a.compare/t_000000.h5", "mine");
	remove_run(&folder, "a.compare");
	expect_untouched();
}

TEST(disk_faults_leave_no_files)
{
	static const char *const faults[] = {"SL_FAULT=file_write:1:28", "SL_FAULT=file_fsync:3:5",
		"SL_FAULT=file_append:2:28", "SL_FAULT=dir_make:1:13"};
	const char *const *words = WORDS("compare", "c.yaml", "--device", "cpu", "--out", "a/b");

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const char *const env[] = {faults[i], NULL};
		struct ending e;

		call(&folder, env, words, &e);
		expect_ending(&e, SL_DISK, "", words);
		expect_untouched();
	}
}

/* The device has too little memory for one row: the row reports it, and the other rows run. */
TEST(row_without_memory_is_skipped)
{
	static const char *const env[] = {"SL_FAULT=dev_malloc:9:2", NULL};
	const char *const *words = WORDS("compare", "c.yaml", "--device", "emulated", "--json");
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	size_t failed = 0, same = 0, n;
	struct ending e;
	sl_node rows;

	call(&folder, env, words, &e);
	assert_ok(sl_yaml_parse(e.out, e.out_bytes, &tree, &problem));
	expect_ending(&e, SL_DEVICE_MEMORY, "device, scan ", words);
	rows = sl_yaml_get(tree, sl_yaml_root(tree), "rows");
	n = sl_yaml_size(tree, rows);
	for (size_t i = 0; i < n; i++) {
		sl_node row = sl_yaml_item(tree, rows, i, NULL);
		const char *answer = sl_yaml_text(tree, sl_yaml_get(tree, row, "answer"), NULL);

		failed += strcmp(answer, "failed") == 0;
		same += strcmp(answer, "same") == 0;
	}
	assert_int_equal(failed, 1);
	assert_int_equal(same, n - 1);
	assert_true(same > 1);
	sl_yaml_free(tree);
	expect_untouched();
}

TEST(interrupt_leaves_no_files)
{
	struct process p = {.argv = WORDS("compare", "slow.yaml", "--device", "cpu", "--out", "a"),
		.folder = folder.path};
	double start = seconds_now();
	struct running r;
	struct ending e;

	process_start(&p, &r);
	while (!folder_has(&folder, "a.compare") && seconds_now() - start < HANG_SECONDS)
		sleep_for(0.01);
	sleep_for(0.5);
	kill(r.pid, SIGINT);
	start = seconds_now();
	process_wait(&r, HANG_SECONDS, &e);
	assert_true(seconds_now() - start < 20);
	expect_ending(&e, INTERRUPTED, "keeps no results", p.argv);
	expect_untouched();
}
