/*
 * processes.c - several programs at once in one directory, and signals to a run of a long batch and
 * to child processes: no result changes. moments.c has what happens at a chosen call. An argument
 * is the number of rounds.
 */
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

/*
 * A batch that takes minutes is discarded; a second signal ends the run without waiting for the
 * batch.
 */
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

static void expect_success(struct running *r, const char *what)
{
	struct ending e;

	process_wait(r, HANG_SECONDS, &e);
	if (e.code != SL_OK)
		fail_msg("%s: exit code %d, signal %d: %s", what, e.code, e.signal, e.err);
	process_free(&e);
}

/* The run in out is complete, and its files are those of the undisturbed run. */
static void expect_same(uint64_t hash)
{
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	assert_true(hash_run(&folder, "out") == hash);
	remove_run(&folder, "out");
}

/* One of them may be refused. */
TEST(two_runs_at_once_are_one)
{
	for (int i = 0; i < 2 * rounds; i++) {
		struct running r[2];
		struct ending e;
		int done = 0;

		for (int k = 0; k < 2; k++) {
			start(AGAIN, &r[k]);
			sleep_for(0.001 * i / rounds);
		}
		for (int k = 0; k < 2; k++) {
			process_wait(&r[k], HANG_SECONDS, &e);
			done += e.code == SL_OK;
			if (e.code != SL_OK &&
				(e.code != SL_OUTPUT_IN_USE || !strstr(e.err, "is in use")))
				fail_msg("exit code %d: %s", e.code, e.err);
			process_free(&e);
		}
		assert_true(done > 0);
		expect_same(expected);
	}
}

/* --- signals to child processes --------------------------------------------------------------- */

static bool signal_children(pid_t parent, int number)
{
	pid_t child[64];
	const size_t n = children_of(parent, child, 64);

	for (size_t i = 0; i < n; i++)
		kill(child[i], number);
	return n > 0;
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
			expect_success(&r, reads ? "verify" : "the run");
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

/*
 * All at once, of which each second one is killed; then the rest. The joined run is that of one
 * process.
 */
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
		expect_success(&part[i], "a part");
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
