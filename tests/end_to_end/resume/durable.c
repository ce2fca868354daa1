/*
 * durable.c - output.durable: what is flushed and when, and that damage of the machine is repaired.
 *
 * A call that fails shows that it was made, and a run that succeeds shows that it was not.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/runs/reference_run.h"

enum { BATCHES = 8 };

static const char text[] = "run: {name: t, seed: 7, particles: 8000, batch: 1000, threads: 2}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "tallies: [w:20]\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
}

/* Runs with the policy while calls of a kind fail; returns the exit code. */
static int run(const char *durable, const char *fault)
{
	char set[64], fails[128];
	struct ending e;
	int code;

	snprintf(set, sizeof(set), "output.durable=%s", durable);
	snprintf(fails, sizeof(fails), "SL_FAULT=%s", fault ? fault : "");
	if (!folder_has(&folder, "out")) /* so that no call is for a new directory */
		assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	call(&folder, fault ? (const char *const[]){fails, NULL} : NULL,
		WORDS("run", "c.yaml", "--quiet", "--device", "cpu", "--out", "out", "--resume",
			"--set", set),
		&e);
	code = e.code;
	process_free(&e);
	return code;
}

TEST(all_policies_give_the_same_bytes)
{
	static const char *const policies[] = {"batch", "end", "never"};

	for (int i = 0; i < 3; i++) {
		assert_int_equal(run(policies[i], NULL), SL_OK);
		assert_true(hash_run(&folder, "out") == reference_hash);
		remove_run(&folder, "out");
	}
}

TEST(batch_flushes_each_file)
{
	static const char *const calls[] = {
		"file_fsync:5+:5", "file_datasync:3+:5", "file_dirsync:5+:5"};
	struct sl_manifest m;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(run("batch", calls[i]), SL_DISK);
		read_manifest(&folder, "out", &m);
		assert_true(m.n < BATCHES);
		sl_manifest_free(&m);
		reference_run_resume();
	}
	assert_int_equal(run("batch", "dir_sync:1+:5"), SL_OK);
	remove_run(&folder, "out");
}

TEST(never_flushes_nothing)
{
	assert_int_equal(
		run("never", "file_fsync:1+:5,file_datasync:1+:5,file_dirsync:1+:5,dir_sync:1+:5"),
		SL_OK);
	assert_true(hash_run(&folder, "out") == reference_hash);
	remove_run(&folder, "out");
}

/* Everything is flushed by one call before run.json, which is flushed itself, says "done". */
TEST(end_flushes_once)
{
	assert_int_equal(run("end", "file_datasync:1+:5,file_fsync:3+:5,file_dirsync:3+:5"), SL_OK);
	assert_true(hash_run(&folder, "out") == reference_hash);
	remove_run(&folder, "out");
	assert_int_equal(run("end", "dir_sync:1+:5"), SL_DISK);
	assert_string_equal(run_json(&folder, "out", "state"), "running");
	reference_run_resume();
	assert_int_equal(run("end", "file_fsync:2+:5"), SL_DISK);
	assert_string_equal(run_json(&folder, "out", "state"), "running");
	reference_run_resume();
}

/* After a failure of the machine, a file can have lost its bytes although its line is in the manifest. */
TEST(lost_bytes_are_computed_again)
{
	assert_int_equal(run("never", NULL), SL_OK);
	assert_int_equal(truncate(folder_path(&folder, "out/t_000002.h5"), 0), 0);
	assert_int_equal(truncate(folder_path(&folder, "out/t_000005.bins"), 8), 0);
	assert_int_equal(unlink(folder_path(&folder, "out/t_000006.h5")), 0);
	assert_int_equal(run("never", NULL), SL_OK);
	assert_true(hash_run(&folder, "out") == reference_hash);
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	reference_run_resume();
}
