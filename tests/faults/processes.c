/*
 * processes.c - several programs in one directory, and signals to a run of a long batch and to child processes: no result
 * changes.
 *
 * The program that computes a run holds the lock of its directory; a second one is refused at once. Readers take no
 * lock: they see the batches that are committed. The second of two programs starts later in each round, so that it
 * meets every phase of the first. An argument is the number of rounds.
 */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cases/sampling.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { PARTS = 4 };

static int rounds = 2;

static void start(const char *const *words, struct running *r)
{
	const struct process p = {.argv = words, .folder = folder.path};

	process_start(&p, r);
}

static void wait_for_file(const char *name)
{
	for (int i = 0; i < 600000 && !folder_has(&folder, name); i++)
		sleep_for(1e-4);
	assert_true(folder_has(&folder, name));
}

/* A batch that takes minutes is discarded; a second signal ends the run without waiting for the batch. */
TEST(interrupt_ends_a_long_batch)
{
	const char *const *words = WORDS("run", "slow.yaml", "--out", "slow");

	for (int signals = 1 + !sl_sampling_selects(); signals <= 2; signals++) {
		struct running r;
		struct ending e;

		start(words, &r);
		wait_for_file("slow/run.json");
		sleep_for(0.1);
		kill(r.pid, SIGTERM);
		if (signals == 2) {
			sleep_for(0.1);
			kill(r.pid, SIGINT);
		}
		process_wait(&r, HANG_SECONDS, &e);
		expect_ending(&e, 128 + (signals == 2 ? SIGINT : SIGTERM), "", words);
		assert_false(folder_has(&folder, "slow/t_000000.h5") ||
			     folder_has(&folder, "slow/manifest.jsonl"));
		remove_run(&folder, "slow");
	}
}

TEST(time_limit_ends_the_run_in_order)
{
	expect(&folder, SL_STOPPED,
		"after 0 of 1 batches, because run.stop_before is nearly reached",
		WORDS("run", "slow.yaml", "--out", "slow", "--stop-before", "2 s"));
	assert_string_equal(run_json(&folder, "slow", "state"), "stopped");
}

/* --- several programs ------------------------------------------------------------------------- */

static const char text[] = "run: {name: t, seed: 7, particles: 1200, batch: 100, threads: 2}\n"
			   "model: {source_detector: {source: {type: point, half_angle: 60 deg},\n"
			   "  detector: {type: disk, distance: 1 cm, radius: 0.9 cm}}}\n"
			   "keep: hit\n"
			   "output: {format: npz}\n";

#define AGAIN    WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume")
#define SET_H5   "output.format=openpmd"
#define AGAIN_H5 WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume", "--set", SET_H5)

static uint64_t expected, expected_h5; /* hashes of undisturbed runs */

/* An ending that a test allows: the exit code, and a part of the message. */
struct allowed {
	int code;
	const char *text; /* NULL: end of the list */
};

static const struct allowed only_success[] = {{SL_OK, ""}, {0, NULL}};
static const struct allowed either[] = {{SL_OK, ""}, {SL_OUTPUT_IN_USE, "is in use"}, {0, NULL}};

/* Waits for a program; returns its exit code, which must be allowed. */
static int end(struct running *r, const char *what, const struct allowed *allowed)
{
	struct ending e;
	bool found = false;

	process_wait(r, HANG_SECONDS, &e);
	for (; allowed->text && !found; allowed++)
		found = e.code == allowed->code && strstr(e.err, allowed->text);
	if (!found)
		fail_msg("%s: exit code %d, signal %d: %s", what, e.code, e.signal, e.err);
	process_free(&e);
	return e.code;
}

/* The run in out is complete, and its files are those of the undisturbed run. */
static void expect_same(uint64_t hash)
{
	unlink(folder_path(&folder, "all.npz"));
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	assert_true(hash_run(&folder, "out") == hash);
	remove_run(&folder, "out");
}

/* Starts the run and, after a delay, another program, which must end as allowed. */
TEST(a_second_program_changes_nothing)
{
	static const struct allowed verified[] = {{SL_OK, ""},
		{SL_CHECK_FAILED, "because the run has not ended"},
		{SL_DISK, "No such file or directory"}, {0, NULL}};
	static const struct allowed converted[] = {{SL_OK, ""},
		{SL_BAD_INPUT, "the directory has no committed batches"},
		{SL_USAGE, "not a run directory"}, {0, NULL}};
	static const struct {
		const char *words[10];
		const struct allowed *first, *second;
	} others[] = {
		{{"sluice", "run", "c.yaml", "--out", "out", "--quiet", "--resume"}, either,
			either},
		{{"sluice", "verify", "out", "--quiet"}, only_success, verified},
		{{"sluice", "convert", "out", "--to", "all.npz", "--quiet"}, only_success,
			converted},
	};

	for (int k = 0; k < 3; k++)
		for (int i = 0; i < rounds; i++) {
			struct running first, second;
			int code;

			start(AGAIN, &first);
			sleep_for(0.05 * i / rounds);
			start(others[k].words, &second);
			code = end(&first, "the run", others[k].first);
			end(&second, others[k].words[1],
				code == SL_OK ? others[k].second : only_success);
			expect_same(expected);
		}
}

/* --- signals to child processes --------------------------------------------------------------- */

/* Sends a signal to all children of the threads of a process. Returns the number of children. */
static int signal_children(pid_t parent, int number)
{
	char pattern[64];
	glob_t threads;
	int n = 0, child;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children", (int)parent);
	if (glob(pattern, 0, NULL, &threads) != 0)
		return 0;
	for (size_t i = 0; i < threads.gl_pathc; i++) {
		FILE *f = fopen(threads.gl_pathv[i], "r");

		for (; f && fscanf(f, "%d", &child) == 1; n++)
			kill(child, number);
		if (f)
			fclose(f);
	}
	globfree(&threads);
	return n;
}

/*
 * HDF5 files are written and read in child processes. Whatever one of these signals does to all of
 * them at a moment, the program makes the file again, or reads it again.
 */
TEST(signals_to_children_change_nothing)
{
	static const int signals[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGXCPU, SIGTERM, SIGALRM};
	enum { SIGNALS = sizeof(signals) / sizeof(*signals) };
	const char *const *verify = WORDS("verify", "reference_h5", "--quiet");

	for (int i = 0; i < SIGNALS * rounds / 2 && i < 3 * rounds; i++) {
		struct running r;

		for (int reads = 0; reads < 2; reads++) {
			start(reads ? verify : AGAIN_H5, &r);
			for (int k = 0; !reads && k < 2000 && !signal_children(r.pid, 0); k++)
				sleep_for(0.001);
			sleep_for(0.02 * i / rounds);
			signal_children(r.pid, signals[i % SIGNALS]);
			end(&r, reads ? "verify" : "the run", only_success);
		}
		expect_same(expected_h5);
	}
}

/* --- parts ------------------------------------------------------------------------------------ */

/* Starts all parts of the run in one directory, or one of them. */
static void start_part(unsigned part, struct running *r)
{
	char text_of_part[16];

	snprintf(text_of_part, sizeof(text_of_part), "%u/%u", part + 1, PARTS);
	start(WORDS("run", "c.yaml", "--out", "parts", "--part", text_of_part, "--resume",
		      "--quiet"),
		r);
}

/* All at once, of which each second one is killed; then the rest. The joined run is that of one process. */
TEST(parts_at_once_are_killed_and_resumed)
{
	struct running part[PARTS];
	unsigned killed = 0;

	for (unsigned i = 0; i < PARTS; i++)
		start_part(i, &part[i]);
	for (unsigned i = 0; i < PARTS; i++) {
		struct ending e;

		if (i % 2) {
			wait_for_file(i == 1 ? "parts/part_2_of_4/run.json"
					     : "parts/part_4_of_4/manifest.jsonl");
			kill(part[i].pid, SIGKILL);
		}
		process_wait(&part[i], HANG_SECONDS, &e);
		killed += e.signal == SIGKILL;
		if (e.signal != SIGKILL && e.code != SL_OK)
			fail_msg("part %u: exit code %d: %s", i, e.code, e.err);
		process_free(&e);
	}
	for (unsigned i = 0; i < PARTS; i++) {
		start_part(i, &part[i]);
		end(&part[i], "a part", only_success);
	}
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "out", "--quiet"));
	expect_same(expected);
	print_message("%u parts were killed\n", killed);
}

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	/* about 1e9 steps: a batch takes a minute */
	write_text(&folder, "slow.yaml",
		"run: {name: t, particles: 1e6, batch: 1e6, threads: 1}\n"
		"model: {slab: {mu_a: 0 /cm, mu_s: 800 /cm, thickness: 1 cm}}\n"
		"transport: {max_steps: 1e6}\n"
		"keep: transmitted\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "reference", "--quiet"));
	expected = hash_run(&folder, "reference");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "reference_h5", "--quiet", "--set", SET_H5));
	expected_h5 = hash_run(&folder, "reference_h5");
}

TEST_FILE(argc, argv)
{
	if (argc == 2)
		rounds = atoi(argv[1]);
	return rounds <= 0 ? 1 : run_test_file(argv[0]);
}
