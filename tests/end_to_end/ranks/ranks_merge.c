/*
 * ranks_merge.c - ranks merge the joined file together: it has the bytes that one process writes, damaged batches
 * are found, and after the death of a rank the run is resumed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cases/sampling.h"
#include "tests/support/runs/ranks_check.h"
#include "tests/support/runs/same_run.h"

enum { SECONDS_TO_END = 60, RANKS = 3 };

#define RUN    WORDS("run", "c.yaml", "--out", "ranks", "--quiet")
#define RESUME WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--resume")
#define PART   "ranks/t.mcpl.part"

BEFORE_EACH() /* each test has an empty folder */
{
}

/* The run of one process. Keys differ, or nearly all are equal; the last quarter of the batches is empty. */
static void make_whole(unsigned particles, unsigned batches, const char *key, const char *set)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"run: {name: t, seed: 3, threads: 1, particles: %u, batch: %u, device: cpu}\n"
		"model:\n"
		"  source_detector:\n"
		"    source: {type: disk, radius: 0.4 cm}\n"
		"    detector: {type: disk, distance: 4 cm, radius: 9 cm}\n"
		"    energy: {type: lines, lines: [26 keV, 59 keV], intensities: [2, 35]}\n"
		"keep: id < %u\nkey: %s\noutput: {format: mcpl, order: run}\n",
		particles, particles / batches, particles / 4 * 3, key);
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "whole", "--quiet", "--set", set));
}

/* The last ones are not shared by the ranks: rank 0 makes them. */
TEST(any_number_of_ranks_gives_the_same_bytes)
{
	static const struct {
		unsigned particles, batches;
		const char *key, *set, *numbers, *report;
	} rows[] = {
		{40000, 16, "[x:float]", "run.threads=1", "7231", ""},
		{40000, 5, "[energy:float]", "run.threads=3", "7231", ""}, /* two keys */
		{40000, 300, "[w:4]", "output.mcpl.precision=double", "7", ""},
		{3000, 3, "[x:float]", "run.threads=1", "7231", ""}, /* more ranks than blocks */
		{3000, 3, "[x:float]", "keep=id < 1", "7", ""},
		{3000, 3, "[x:float]", "keep=id > 1e9", "7", ""}, /* no record at all */
		{3000, 3, "[x:float]", "run.particles=1000", "7", ""},
		{3000, 3, "[x:float]", "output.durable=end", "7", ""},
		{3000, 3, "[x:float]", "output.durable=never", "7", ""},
		{16000, 16, "[x:float]", "run.device=emulated:2", "2", "\"devices\": 2"},
		{20000, 16, "[x:float]", "output.sample=1000", "7", ""},
		{20000, 16, "[x:float]", "output.limit=1000", "7", ""},
		{20000, 16, "[x:float]", "output.format=mcpl.gz", "7", ""},
		{5200, 520, "[x:float]", "run.threads=1", "7", ""}, /* SL_MERGED_FILES_MOST */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_whole(rows[i].particles, rows[i].batches, rows[i].key, rows[i].set);
		for (const char *n = rows[i].numbers; *n; n++) {
			size_t bytes;
			char *report;

			expect_ranks((unsigned)(*n - '0'), SL_OK, "",
				WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--set",
					rows[i].set));
			expect_same_runs("ranks", "whole");
			report = folder_read(&folder, "ranks/run.json", &bytes);
			assert_non_null(strstr(report, rows[i].report));
			free(report);
			remove_run(&folder, "ranks");
		}
		remove_run(&folder, "whole");
	}
}

/* --- merges of a complete run ----------------------------------------------------------------- */

/* Starts n ranks that only make the joined file again, each with its SL_FAULT. */
static void start_merge(unsigned n, const char *const fault[RANKS], struct running *r)
{
	static char text[RANKS][64];
	struct ranks_command c;

	for (unsigned i = 0; i < n; i++) {
		const char *const options[] = {"-x", text[i], NULL};

		snprintf(text[i], sizeof(text[i]), "SL_FAULT=%s", fault[i]);
		if (i == 0)
			ranks_command(1, options, RESUME, &c);
		else
			add_rank(&c, options, RESUME);
	}
	start_ranks(&c, r);
}

/* Each call fails in turn. The joined file of the last complete run stays until the new one is complete. */
TEST(a_failure_of_a_rank_is_reported_once)
{
	static const char *const calls[] = {
		"file_write", "file_fsync", "file_rename", "file_seek", "file_open"};
	char fault[64];

	make_whole(20000, 3, "[x:float]", "run.threads=1");
	copy_run(&folder, "whole", "ranks");
	for (unsigned i = 0; i < 10; i++) {
		const char *faults[RANKS] = {i < 5 ? fault : "", i < 5 ? "" : fault};
		struct ending e = {.code = SL_DISK};
		unsigned failures = 0;

		for (uint64_t k = 1; e.code != SL_OK; k = sl_sampling_next(k, UINT64_MAX)) {
			struct running r;

			snprintf(fault, sizeof(fault), "%s:%u:28", calls[i % 5], (unsigned)k);
			start_merge(2, faults, &r);
			process_wait(&r, HANG_SECONDS, &e);
			if (e.code != SL_OK &&
				(e.code != SL_DISK || times_in(e.err, "sluice: ") != 1 ||
					!strstr(e.err, "No space left on device") ||
					!strstr(e.err, i < 5 ? "" : "rank 1 on ")))
				fail_msg("rank %u, %s: %d: %s", i / 5, fault, e.code, e.err);
			assert_false(folder_has(&folder, PART));
			assert_true(is_same_file("ranks/t.mcpl", "whole/t.mcpl"));
			failures += e.code != SL_OK;
			process_free(&e);
		}
		if (failures == 0 && i != 3 &&
			i != 7) /* rank 0 does not seek, and rank 1 renames no file */
			fail_msg("rank %u: no %s has failed", i / 5, calls[i % 5]);
		expect_same_runs("ranks", "whole");
	}
}

static void wait_until_stopped(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 1000 * HANG_SECONDS && state != 'T'; i++) {
		FILE *f = fopen(path, "re");

		assert_true(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
		fclose(f);
		sleep_for(0.001);
	}
	assert_int_equal(state, 'T');
}

/* All ranks stop before the first byte that they write. Then one is killed, a file is damaged, or time passes. */
TEST(stopped_ranks_end_or_continue)
{
	static const char *const faults[RANKS] = {
		"file_write:3:stop", "file_seek:1:stop", "file_seek:1:stop"};
	static const struct {
		int killed; /* a rank, or -1 */
		const char *damaged;
		int seconds; /* longer than a rank may be silent, as a batch system suspends a job */
		int code;    /* or -1: any */
	} rows[] = {{0, NULL, 0, -1}, {1, NULL, 0, -1}, {2, NULL, 0, -1},
		{-1, "ranks/t_000007.mcpl", 0, SL_CHECK_FAILED},
		{-1, "ranks/t_000010.order", 0, SL_CHECK_FAILED}, {-1, NULL, 8, SL_OK}};

	make_whole(40000, 16, "[x:float]", "run.threads=1");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct running r;
		struct ending e;
		pid_t rank[RANKS];

		copy_run(&folder, "whole", "ranks");
		assert_int_equal(remove(folder_path(&folder, "ranks/t.mcpl")), 0);
		start_merge(RANKS, faults, &r);
		for (int k = 0; k < 100 * HANG_SECONDS && !folder_has(&folder, PART); k++)
			sleep_for(0.01);
		for (unsigned k = 0; k < RANKS; k++)
			wait_until_stopped(rank[k] = find_rank(&r, "ranks", 1, k));
		if (rows[i].killed >= 0)
			kill(rank[rows[i].killed], SIGKILL);
		if (rows[i].damaged)
			folder_flip(&folder, rows[i].damaged, 1, 1); /* the last rank reads it */
		sleep_for(rows[i].seconds);
		for (unsigned k = 0; k < RANKS; k++)
			kill(rank[k], SIGCONT);
		process_wait(&r, HANG_SECONDS, &e);
		if (e.timed_out || (rows[i].code < 0 ? e.code == SL_OK : e.code != rows[i].code))
			fail_msg("row %zu: %d: %s", i, e.code, e.err);
		if (rows[i].damaged) {
			assert_int_equal(times_in(e.err, "sluice: "), 1);
			assert_non_null(strstr(e.err, rows[i].damaged + strlen("ranks/")));
			assert_non_null(
				strstr(e.err, "size or checksum differs from the manifest"));
			assert_false(folder_has(&folder, PART));
		}
		process_free(&e);
		assert_true(folder_has(&folder, "ranks/t.mcpl") == (rows[i].code == SL_OK));
		expect_ranks(1 + (unsigned)i % RANKS, SL_OK, "", RESUME);
		expect_same_runs("ranks", "whole");
		remove_run(&folder, "ranks");
	}
}

/* Without the help of mpirun, which does not see that the child of a shell has died. Ranks 1 and 2 stop in the merge. */
TEST(ranks_notice_a_lost_rank)
{
	make_whole(40000, 16, "[x:float]", "run.threads=1");
	for (unsigned lost = 0; lost < RANKS; lost += 2) {
		struct running r;

		setenv("SL_FAULT", "file_seek:1:stop", 1);
		start_ranks_in_shells(&r);
		unsetenv("SL_FAULT");
		for (unsigned k = 1; k < RANKS; k++)
			wait_until_stopped(rank_in_shell(k));
		lose_rank(lost);
		for (unsigned k = 0; k < RANKS; k++)
			if (k != lost)
				kill(rank_in_shell(k), SIGCONT);
		expect_lost_rank(&r, SECONDS_TO_END);
		assert_false(folder_has(&folder, "ranks/t.mcpl"));
		expect_ranks(2, SL_OK, "", RESUME);
		expect_same_runs("ranks", "whole");
		remove_run(&folder, "ranks");
	}
}
