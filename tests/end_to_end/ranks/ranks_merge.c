/*
 * ranks_merge.c - ranks merge the joined file together: it has the bytes that one process writes, damaged batches
 * are found, and after the death of a rank the run is resumed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/yaml.h"
#include "tests/support/runs/ranks_check.h"
#include "tests/support/runs/same_run.h"

enum { SECONDS_TO_END = 10, LONG_BATCHES = 40 };

#define RUN  WORDS("run", "c.yaml", "--out", "ranks", "--quiet")
#define PART "ranks/t.mcpl.part"

/* A run with keys that differ, or nearly all of which are equal; the last quarter of the batches is empty. */
static void write_config(unsigned particles, unsigned batches, const char *key, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"run: {name: t, seed: 3, threads: 1, particles: %u, batch: %u, device: cpu}\n"
		"model:\n"
		"  source_detector:\n"
		"    source: {type: disk, radius: 0.4 cm}\n"
		"    detector: {type: disk, distance: 4 cm, radius: 9 cm}\n"
		"    energy: {type: lines, lines: [26 keV, 59 keV], intensities: [2, 35]}\n"
		"keep: id < %u\nkey: %s\noutput: {format: mcpl, order: run%s}\n",
		particles, particles / batches, particles / 4 * 3, key, more);
	write_text(&folder, "c.yaml", text);
}

BEFORE_EACH()
{
}

/* A run whose merge takes long enough to be interrupted, and the same run of one process. */
static void make_long_run(void)
{
	write_config(is_quick() ? 1000000 : 3000000, LONG_BATCHES, "[x:float]", "");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
}

/* Runs c.yaml as one process and as each of n numbers of ranks, and compares. */
static void check_ranks(size_t n, const char *set)
{
	static const unsigned numbers[] = {7, 2, 3, 1};
	const char *words[] = {"sluice", "run", "c.yaml", "--out", "whole", "--quiet",
		set ? "--set" : NULL, set, NULL};

	expect(&folder, SL_OK, "", words);
	words[4] = "ranks";
	for (size_t i = 0; i < n; i++) {
		expect_ranks(numbers[i], SL_OK, "", words);
		expect_same_runs("ranks", "whole");
		remove_run(&folder, "ranks");
	}
	remove_run(&folder, "whole");
}

TEST(any_number_of_ranks_gives_the_same_bytes)
{
	write_config(40000, 16, "[x:float]", "");
	check_ranks(4, NULL);
	write_config(40000, 5, "[energy:float]", ""); /* two keys */
	check_ranks(4, "run.threads=3");
	write_config(40000, 300, "[w:4]", "");
	check_ranks(1, "output.mcpl.precision=double");
	write_config(3000, 3, "[x:float]", ""); /* more ranks than blocks of the file */
	check_ranks(4, NULL);
	check_ranks(1, "keep=id < 1");
	check_ranks(1, "keep=id > 1e9"); /* no record at all */
	check_ranks(1, "run.particles=1000");
	check_ranks(1, "output.durable=end");
	check_ranks(1, "output.durable=never");
}

/* The devices of a rank sort the keys of its range. */
TEST(ranks_with_devices_give_the_same_bytes)
{
	const char *words[] = {"sluice", "run", "c.yaml", "--out", "whole", "--quiet", "--device",
		"emulated:2", NULL};
	struct sl_yaml *report;
	sl_node joined;

	write_config(16000, 16, "[x:float]", "");
	expect(&folder, SL_OK, "", words);
	words[4] = "ranks";
	expect_ranks(2, SL_OK, "", words);
	expect_same_runs("ranks", "whole");
	report = report_of(&folder, "ranks");
	joined = sl_yaml_get(report, sl_yaml_get(report, sl_yaml_root(report), "times"), "joined");
	assert_string_equal(
		sl_yaml_text(report, sl_yaml_get(report, joined, "devices"), NULL), "2");
	sl_yaml_free(report);
}

/* What the ranks do not share: rank 0 makes the file. */
TEST(other_files_have_the_same_bytes)
{
	static const char *const more[] = {", sample: 1000", ", limit: 1000"};

	for (size_t i = 0; i < 2; i++) {
		write_config(20000, 16, "[x:float]", more[i]);
		check_ranks(1, NULL);
	}
	write_config(20000, 16, "[x:float]", "");
	check_ranks(1, "output.format=mcpl.gz");
	write_config(5200, 520, "[x:float]", ""); /* more than SL_MERGED_FILES_MOST */
	check_ranks(1, NULL);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Another rank writes a range: only then it seeks. The failure is that of the run, and leaves no file. */
TEST(a_failure_of_a_rank_is_reported_once)
{
	static const char *const faults[] = {"SL_FAULT=file_seek:1:28", "SL_FAULT=file_seek:2:28"};
	struct ranks_command c;
	struct running r;
	struct ending e;

	write_config(40000, 16, "[x:float]", "");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
	for (size_t i = 0; i < 2; i++) {
		ranks_command(2, NULL, RUN, &c);
		add_rank(&c, (const char *const[]){"-x", faults[i], NULL}, RUN);
		start_ranks(&c, &r);
		process_wait(&r, HANG_SECONDS, &e);
		assert_int_equal(e.code, SL_DISK);
		assert_int_equal(times_in(e.err, "sluice: "), 1);
		assert_non_null(strstr(e.err, "rank 2 on "));
		assert_non_null(strstr(e.err, "t.mcpl.part: No space left on device"));
		process_free(&e);
		assert_false(folder_has(&folder, PART));
		assert_false(folder_has(&folder, "ranks/t.mcpl"));
		expect_ranks(2, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--resume"));
		expect_same_runs("ranks", "whole");
		remove_run(&folder, "ranks");
	}
}

static void expect_same_file(const char *name, const char *other)
{
	size_t bytes, other_bytes;
	char *text = folder_read(&folder, name, &bytes),
	     *expected = folder_read(&folder, other, &other_bytes);

	assert_int_equal(bytes, other_bytes);
	assert_memory_equal(text, expected, bytes);
	free(text);
	free(expected);
}

/* Makes the joined file of a complete run again, while a call of one of two ranks fails. Returns the exit code. */
static int merge_with_fault(unsigned rank, const char *fault)
{
	const char *const words[] = {
		"sluice", "run", "c.yaml", "--out", "ranks", "--quiet", "--resume", NULL};
	const char *const options[] = {"-x", fault, NULL}, *const none[] = {
								   "-x", "SL_FAULT=", NULL};
	struct ranks_command c;
	struct running r;
	struct ending e;
	int code;

	ranks_command(1, rank == 0 ? options : none, words, &c);
	add_rank(&c, rank == 1 ? options : none, words);
	start_ranks(&c, &r);
	process_wait(&r, HANG_SECONDS, &e);
	assert_false(e.timed_out);
	code = e.code;
	if (code != SL_OK)
		assert_int_equal(times_in(e.err, "sluice: "), 1);
	process_free(&e);
	return code;
}

/* The joined file of the last complete run stays until the new one is complete. */
TEST(failed_calls_leave_no_part)
{
	static const char *const calls[] = {"file_write", "file_fsync", "file_rename", "file_open"};
	char fault[64];

	write_config(20000, 3, "[x:float]", "");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
	expect_ranks(2, SL_OK, "", RUN);
	for (unsigned i = 0; i < 8; i++) {
		int code = SL_DISK;

		for (unsigned k = 1; code != SL_OK; k += i % 4 == 3 ? 5 : 1) {
			snprintf(fault, sizeof(fault), "SL_FAULT=%s:%u:28", calls[i % 4], k);
			code = merge_with_fault(i / 4, fault);
			assert_true(code == SL_OK || code == SL_DISK);
			assert_false(folder_has(&folder, PART));
			expect_same_file("ranks/t.mcpl", "whole/t.mcpl");
		}
		expect_same_runs("ranks", "whole");
	}
}

/* Waits until the run merges, or for its joined file. Returns whether the file is being merged. */
static bool wait_for_merge(void)
{
	for (int i = 0; i < 1000 * HANG_SECONDS; i++) {
		if (folder_has(&folder, PART))
			return true;
		if (folder_has(&folder, "ranks/t.mcpl"))
			return false;
		sleep_for(0.001);
	}
	return false;
}

/*
 * Starts a run of three ranks, and stops them while they merge. Finds their processes. On a busy machine the
 * merge can end before: then the run is started again.
 */
static void stop_in_merge(struct running *r, pid_t rank[3])
{
	struct ranks_command c;
	struct ending e;

	ranks_command(3, NULL, RUN, &c);
	for (int tries = 0; tries < 10; tries++) {
		start_ranks(&c, r);
		for (unsigned i = 0; i < 3; i++)
			rank[i] = find_rank(r, "ranks", 1, i);
		if (wait_for_merge()) {
			for (unsigned i = 0; i < 3; i++)
				kill(rank[i], SIGSTOP);
			if (folder_has(&folder, PART))
				return;
			for (unsigned i = 0; i < 3; i++)
				kill(rank[i], SIGCONT);
		}
		process_wait(r, HANG_SECONDS, &e);
		process_free(&e);
		remove_run(&folder, "ranks");
	}
	fail_msg("each merge ended before its ranks were stopped");
}

static void go_on(const pid_t rank[3])
{
	for (unsigned i = 0; i < 3; i++)
		kill(rank[i], SIGCONT);
}

/* Resumes with some ranks, and compares with the run of one process. */
static void resume(unsigned ranks)
{
	expect_ranks(
		ranks, SL_OK, "", WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--resume"));
	expect_same_runs("ranks", "whole");
	remove_run(&folder, "ranks");
}

TEST(a_killed_rank_ends_the_merge)
{
	struct running r;
	struct ending e;
	pid_t rank[3];

	make_long_run();
	for (unsigned i = 0; i < 3; i++) {
		double start;

		stop_in_merge(&r, rank);
		start = seconds_now();
		kill(rank[i], SIGKILL);
		go_on(rank);
		process_wait(&r, HANG_SECONDS, &e);
		assert_true(seconds_now() - start < SECONDS_TO_END);
		assert_int_not_equal(e.code, 0);
		process_free(&e);
		assert_false(folder_has(&folder, "ranks/t.mcpl"));
		resume(1 + i);
	}
}

/* Without the help of mpirun, which does not see that the child of a shell has died. */
TEST(ranks_notice_a_lost_rank)
{
	make_long_run();
	for (unsigned rank = 0; rank < 3; rank += 2) {
		struct running r;

		start_ranks_in_shells(&r);
		assert_true(wait_for_merge());
		lose_rank(rank);
		expect_lost_rank(&r, SECONDS_TO_END);
		assert_false(folder_has(&folder, "ranks/t.mcpl"));
		resume(2);
	}
}

/* Damages the last byte of a file while ranks merge. On a busy machine it can have been read: then again. */
static void damage_in_merge(const char *name, struct ending *e)
{
	struct running r;
	pid_t rank[3];

	for (int tries = 0; tries < 10; tries++) {
		stop_in_merge(&r, rank);
		folder_flip(&folder, name, 1, 1);
		go_on(rank);
		process_wait(&r, HANG_SECONDS, e);
		if (e->code != SL_OK)
			return;
		process_free(e);
		remove_run(&folder, "ranks");
	}
	fail_msg("%s: the damage was not found", name);
}

/* A byte that one rank reads is damaged while the ranks merge: its batch is computed again. */
TEST(a_damaged_batch_is_found)
{
	static const char *const files[] = {"ranks/t_000007.mcpl", "ranks/t_000029.order"};

	make_long_run();
	for (size_t i = 0; i < 2; i++) {
		struct ending e;

		damage_in_merge(files[i], &e);
		assert_int_equal(e.code, SL_CHECK_FAILED);
		assert_int_equal(times_in(e.err, "sluice: "), 1);
		assert_non_null(strstr(e.err, files[i] + strlen("ranks/")));
		assert_non_null(strstr(e.err, "size or checksum differs from the manifest"));
		process_free(&e);
		assert_false(folder_has(&folder, PART));
		assert_false(folder_has(&folder, "ranks/t.mcpl"));
		resume(3);
	}
}

/* A batch system can suspend a job for longer than a rank may be silent. */
TEST(suspended_ranks_continue)
{
	make_long_run();
	enum { SECONDS_SUSPENDED = 8 };
	struct running r;
	struct ending e;
	pid_t rank[3];

	stop_in_merge(&r, rank);
	sleep_for(SECONDS_SUSPENDED);
	go_on(rank);
	process_wait(&r, HANG_SECONDS, &e);
	expect_ending(&e, SL_OK, "", RUN);
	expect_same_runs("ranks", "whole");
}
