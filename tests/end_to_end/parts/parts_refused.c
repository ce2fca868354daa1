/*
 * parts_refused.c - parts that are missing, damaged, repeated or of other runs, and output directories in
 * use: a clear message, the right exit code, and no changed file. A failure of the disk during a join
 * leaves nothing of it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/plan/plan.h"
#include "tests/support/runs/parts_check.h"

static const char text[] =
	"run: {name: t, seed: 7, particles: 3000, batch: 200, threads: 2, device: cpu}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: [w:16]\n"
	"tallies: [w:16]\n";

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", text);
	run_parts(3, NULL);
}

/* Expects that joining the parts is refused, and changes nothing. */
static void refuse(int code, const char *message)
{
	folder_remember();
	expect(&folder, code, message, WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect_untouched();
}

/* --- the parts -------------------------------------------------------------------------------- */

TEST(missing_parts_are_named)
{
	remove_run(&folder, "parts/part_2_of_3");
	refuse(SL_BAD_INPUT, "part 2 is missing");
	keep_batches(&folder, "parts/part_3_of_3", 4);
	refuse(SL_BAD_INPUT, "part 2 is missing, part 3 has 4 of 5 batches");
	remove_run(&folder, "parts/part_1_of_3");
	remove_run(&folder, "parts/part_3_of_3");
	refuse(SL_BAD_INPUT, "holds no part of a run");
	expect(&folder, SL_DISK, "none", WORDS("join", "none", "--out", "joined"));
	expect(&folder, SL_USAGE, "takes no settings",
		WORDS("join", "parts", "--out", "joined", "--threads", "2"));
}

TEST(repeated_parts_are_refused)
{
	copy_run(&folder, "parts/part_2_of_3", "copy");
	folder_remember();
	expect(&folder, SL_USAGE, "part 2 of 3 is given twice",
		WORDS("join", "parts", "copy", "--out", "joined"));
	expect(&folder, SL_USAGE, "is given twice",
		WORDS("join", "parts", "parts", "--out", "joined"));
	expect_untouched();
}

/* Replaces part 2 by one that was made with other settings. */
static void replace_part(unsigned of, const char *const *more)
{
	struct part_command c;

	remove_run(&folder, "parts/part_2_of_3");
	part_command(2, of, more, &c);
	c.words[4] = "other";
	expect(&folder, SL_OK, "", c.words);
	assert_int_equal(
		rename(folder_path(&folder, of == 3 ? "other/part_2_of_3" : "other/part_2_of_4"),
			folder_path(&folder, "parts/part_2_of_3")),
		0);
}

TEST(parts_of_other_runs_are_refused)
{
	replace_part(3, SETS("--set", "run.seed=8"));
	refuse(SL_BAD_INPUT, "seed: 7\" and \"seed: 8");
	replace_part(3, SETS("--set", "keep=reflected"));
	refuse(SL_BAD_INPUT, "keep");
	replace_part(3, SETS("--set", "check.transmitted=0.5"));
	refuse(SL_BAD_INPUT, "check.transmitted=0.5");
	replace_part(4, NULL);
	refuse(SL_BAD_INPUT, "a part of 3 and parts/part_2_of_3 a part of 4");
	remove_run(&folder, "parts/part_2_of_3");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
	folder_remember();
	expect(&folder, SL_BAD_INPUT, "holds a whole run",
		WORDS("join", "parts", "whole", "--out", "joined"));
	expect_untouched();
}

TEST(damaged_parts_are_refused)
{
	folder_flip(&folder, "parts/part_2_of_3/t_000007.h5", 1, 2);
	refuse(SL_BAD_INPUT, "batch 7 is damaged");
	run_parts(3, NULL); /* repairs it */
	unlink(folder_path(&folder, "parts/part_3_of_3/t_000012.bins"));
	refuse(SL_BAD_INPUT, "batch 12 is damaged");
	run_parts(3, NULL);
	folder_flip(&folder, "parts/part_1_of_3/run.json", 1, 2);
	refuse(SL_BAD_INPUT, "parts/part_1_of_3/run.json");
	unlink(folder_path(&folder, "parts/part_1_of_3/run.json"));
	refuse(SL_BAD_INPUT, "has no run.json");
	remove_run(&folder, "parts/part_1_of_3");
	run_parts(3, NULL);
	folder_flip(&folder, "parts/part_2_of_3/manifest.jsonl", 1, 2);
	refuse(SL_BAD_INPUT, "part 2 has 4 of 5 batches and a damaged manifest");
	run_parts(3, NULL);
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
}

/* A manifest of another part, whose lines are valid. */
TEST(batches_of_other_parts_are_refused)
{
	size_t bytes;
	char *lines;

	lines = folder_read(&folder, "parts/part_1_of_3/manifest.jsonl", &bytes);
	folder_write(&folder, "parts/part_2_of_3/manifest.jsonl", lines, bytes);
	free(lines);
	refuse(SL_BAD_INPUT, "has batch 0, but the part has batches 5 to 9");
	keep_batches(&folder, "parts/part_3_of_3",
		1); /* its first batch is the first one after part 2 */
	lines = folder_read(&folder, "parts/part_3_of_3/manifest.jsonl", &bytes);
	folder_write(&folder, "parts/part_2_of_3/manifest.jsonl", lines, bytes);
	free(lines);
	refuse(SL_BAD_INPUT, "has batch 10, but the part has batches 5 to 9");
}

/* A file with a name that the run does not use is not taken over. */
TEST(files_of_other_names_are_refused)
{
	struct sl_manifest m;
	struct sl_dir dir;

	read_manifest(&folder, "parts/part_3_of_3", &m);
	snprintf(m.line[1].file, sizeof(m.line[1].file), "mine.h5");
	assert_ok(sl_dir_open(folder_path(&folder, "parts/part_3_of_3"), false, &dir));
	assert_ok(sl_manifest_write(&dir, &m));
	sl_dir_close(&dir);
	sl_manifest_free(&m);
	assert_int_equal(rename(folder_path(&folder, "parts/part_3_of_3/t_000011.h5"),
				 folder_path(&folder, "parts/part_3_of_3/mine.h5")),
		0);
	refuse(SL_BAD_INPUT, "batch 11 is damaged");
}

/* A part of an older or of a newer program may have other bits. */
TEST(parts_of_other_versions_are_refused)
{
	char from[48], to[48];

	snprintf(from, sizeof(from), "\"rules_version\": %d", SL_RULES_VERSION);
	for (int k = -1; k <= 1; k += 2) {
		snprintf(to, sizeof(to), "\"rules_version\": %d", SL_RULES_VERSION + k);
		edit_run_json(&folder, "parts/part_2_of_3", from, to);
		refuse(SL_BAD_INPUT, "join the parts with the program that computed them");
		edit_run_json(&folder, "parts/part_2_of_3", to, from);
	}
}

static void replace_batch_11(void)
{
	char *bytes;
	size_t size;

	bytes = folder_read(&folder, "parts/part_3_of_3/t_000012.h5", &size);
	unlink(folder_path(&folder, "parts/part_3_of_3/t_000011.h5"));
	folder_write(&folder, "parts/part_3_of_3/t_000011.h5", bytes, size);
	free(bytes);
}

static void start_part_again(void)
{
	const char *const *words =
		WORDS("run", "c.yaml", "--out", "parts", "--part", "3/3", "--force");

	expect(&folder, SL_OUTPUT_IN_USE, "part_3_of_3 is in use", words);
}

/* A file that is replaced after the join has looked at the part; files are linked, or copied. */
TEST(a_part_that_changes_is_noticed)
{
	const char *const *words = WORDS("join", "parts", "--out", "joined", "--quiet", "--force");
	static const char *const faults[] = {
		"file_link:21:stop", "file_link:1+:18,file_map:21:stop"};
	struct ending e;

	for (int k = 0; k < 2; k++) {
		call_changed(&folder, faults[k], replace_batch_11, words, &e);
		expect_ending(&e, SL_BAD_INPUT, "batch 11 is damaged", words);
		assert_false(folder_has(&folder, "joined"));
		run_parts(3, NULL); /* repairs it */
	}
	call_changed(&folder, "file_link:23:stop", start_part_again, words, &e);
	expect_ending(&e, SL_OK, "", words);
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
}

/* A directory that a part names is not one that the user named. */
TEST(parts_do_not_choose_the_output)
{
	for (int i = 1; i <= 3; i++) {
		char part[32];

		snprintf(part, sizeof(part), "parts/part_%d_of_3", i);
		edit_run_json(&folder, part, "output:\\n", "output:\\n  to: victim\\n");
	}
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "victim", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--quiet"));
	folder_remember();
	expect(&folder, SL_USAGE, "join needs --out DIR",
		WORDS("join", "parts/part_1_of_3", "parts/part_2_of_3", "parts/part_3_of_3",
			"--force"));
	expect(&folder, SL_BAD_INPUT, "part 2 is missing",
		WORDS("join", "parts/part_1_of_3", "--force"));
	expect_untouched();
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--quiet", "--force"));
	expect(&folder, SL_OK, "", WORDS("verify", "parts", "--quiet"));
	remove_run(&folder, "parts/part_1_of_3");
	assert_true(hash_run(&folder, "victim") == hash_run(&folder, "out/t"));
}

/* --- the output ------------------------------------------------------------------------------- */

TEST(an_output_in_use_is_not_replaced)
{
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	refuse(SL_OUTPUT_IN_USE, "holds a run already");
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet", "--force"));
	remove_run(&folder, "joined");
	/* a user's file with a name that the run needs, and one with another name */
	assert_int_equal(mkdir(folder_path(&folder, "joined"), 0777), 0);
	write_text(&folder, "joined/t_000003.h5", "mine");
	refuse(SL_OUTPUT_IN_USE, "t_000003.h5");
	unlink(folder_path(&folder, "joined/t_000003.h5"));
	write_text(&folder, "joined/notes", "mine");
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect_file(&folder, "joined/notes", "mine");
	/* the directory of a part is never replaced */
	folder_remember();
	expect(&folder, SL_OUTPUT_IN_USE, "is the directory of part 2",
		WORDS("join", "parts", "--out", "parts/part_2_of_3", "--force"));
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run already",
		WORDS("join", "parts", "--out", "parts/part_2_of_3/"));
	expect_untouched();
}

/* Every call to the file layer fails once: with a full disk, the join leaves no file. */
TEST(a_failed_join_leaves_nothing)
{
	static const char *const calls[] = {"file_write", "file_fsync", "file_rename", "file_open",
		"file_dirsync", "dir_make", "file_close"};
	const char *const *words = WORDS("join", "parts", "--out", "new/joined", "--quiet");
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (unsigned k = 1;; k += k < 12 ? 1 : 17) {
			char fault[64];
			const char *const env[] = {fault, NULL};
			struct ending e;

			snprintf(fault, sizeof(fault), "SL_FAULT=%s:%u:28", calls[i], k);
			call(&folder, env, words, &e);
			if (e.code == SL_OK) {
				process_free(&e);
				remove_run(&folder, "new");
				break;
			}
			failed++;
			if (folder_has(&folder, "new/joined"))
				fail_msg("%s left new/joined (%s)", fault, e.err);
			expect_ending(&e, SL_DISK, "", words);
		}
	assert_true(failed > 30);
	/* links that fail for another reason than the kinds of file systems; the directory existed */
	write_text(&folder, "joined.txt", "mine");
	assert_int_equal(mkdir(folder_path(&folder, "joined"), 0777), 0);
	write_text(&folder, "joined/notes", "mine");
	folder_remember();
	for (unsigned k = 1; k <= 30; k += 7) {
		char fault[64];
		const char *const env[] = {fault, NULL};
		const char *const *again = WORDS("join", "parts", "--out", "joined", "--quiet");
		struct ending e;

		snprintf(fault, sizeof(fault), "SL_FAULT=file_link:%u:28", k);
		call(&folder, env, again, &e);
		expect_ending(&e, SL_DISK, "", again);
		unlink(folder_path(&folder, "joined/LOCK"));
		expect_untouched();
	}
}

/* A signal ends the join in order: at whatever moment it comes, there is a whole run or nothing. */
TEST(a_stopped_join_leaves_nothing)
{
	const char *const *words = WORDS("join", "parts", "--out", "joined", "--quiet");
	const struct process p = {.argv = words, .folder = folder.path};
	double length = seconds_now();

	expect(&folder, SL_OK, "", words);
	length = seconds_now() - length;
	for (int i = 0; i < 20; i++) {
		struct running r;
		struct ending e;

		remove_run(&folder, "joined");
		process_start(&p, &r);
		sleep_for(length * i / 20);
		kill(r.pid, SIGTERM);
		process_wait(&r, HANG_SECONDS, &e);
		if (folder_has(&folder, "joined") != (e.code == SL_OK))
			fail_msg("exit code %d, signal %d: %s", e.code, e.signal, e.err);
		process_free(&e);
	}
}

/* --- sluice run --part ------------------------------------------------------------------------ */

TEST(wrong_parts_are_refused)
{
	folder_remember();
	expect(&folder, SL_USAGE, "--part 4/3: the value must be I/N",
		WORDS("run", "c.yaml", "--out", "parts", "--part", "4/3"));
	expect(&folder, SL_USAGE, "the run has 15 batches of 200 particles",
		WORDS("run", "c.yaml", "--out", "x", "--part", "1/16"));
	expect(&folder, SL_USAGE, "SLURM_ARRAY_TASK_ID is not set",
		WORDS("run", "c.yaml", "--out", "x", "--part", "slurm"));
	expect(&folder, SL_USAGE, "--part has no effect on verify",
		WORDS("verify", "parts", "--part", "1/2"));
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run already",
		WORDS("run", "c.yaml", "--out", "parts", "--part", "2/3"));
	expect(&folder, SL_OUTPUT_IN_USE, "part_1_of_3 is in the same directory",
		WORDS("run", "c.yaml", "--out", "parts", "--part", "1/4"));
	expect(&folder, SL_OUTPUT_IN_USE, "holds part_2_of_3",
		WORDS("run", "c.yaml", "--out", "parts/part_2_of_3", "--resume"));
	expect_untouched();
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration",
		WORDS("run", "c.yaml", "--out", "parts", "--part", "2/3", "--resume", "--set",
			"run.seed=8"));
}

/* A task of a job array, and what plan says about it. */
TEST(a_task_of_slurm_is_a_part)
{
	static const char *const env[] = {"SLURM_ARRAY_TASK_ID=11", "SLURM_ARRAY_TASK_COUNT=3",
		"SLURM_ARRAY_TASK_MIN=10", "SLURM_ARRAY_TASK_MAX=12", NULL};
	const char *const *words =
		WORDS("run", "c.yaml", "--out", "tasks", "--part", "slurm", "--quiet");
	struct ending e;
	char *plan;

	call(&folder, env, words, &e);
	expect_ending(&e, SL_OK, "", words);
	assert_true(
		hash_run(&folder, "tasks/part_2_of_3") == hash_run(&folder, "parts/part_2_of_3"));
	plan = output_of(&folder, WORDS("plan", "c.yaml", "--part", "2/3", "--out", "x"));
	assert_non_null(strstr(plan, "2 of 3: batches 5 to 9, 1000 particles"));
	assert_non_null(strstr(plan, "in x/part_2_of_3 "));
	free(plan);
}
