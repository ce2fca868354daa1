/*
 * concurrency.c - several programs use one directory at the same time, or signal each other's
 * processes: no result changes.
 *
 * The program that computes a run holds the lock of its directory; a second one is refused at once. Readers
 * take no lock: they see the batches that are committed. Each repetition starts two programs at about the
 * same time. The delay of the second grows with each repetition, so that it starts in every phase of the
 * first. An argument sets the number of repetitions.
 */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static int rounds = 10;

static const char text[] = "run: {name: t, seed: 7, particles: 4000, batch: 100, threads: 2}\n"
			   "model: {source_detector: {source: {type: point, half_angle: 60 deg},\n"
			   "  detector: {type: disk, distance: 1 cm, radius: 0.9 cm}}}\n"
			   "keep: hit\n"
			   "output: {format: npz}\n";

#define RUN    WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume")
#define H5     "output.format=openpmd"
#define RUN_H5 WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume", "--set", H5)

static uint64_t expected, expected_h5; /* hashes of undisturbed runs */

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "reference", "--quiet"));
	expected = hash_run(&folder, "reference");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "reference_h5", "--quiet", "--set", H5));
	expected_h5 = hash_run(&folder, "reference_h5");
}

static void start(const char *const *words, struct running *r)
{
	const struct process p = {.argv = words, .folder = folder.path};

	process_start(&p, r);
}

/* An ending that a test allows: the exit code, and a part of the message. */
struct allowed {
	int code;
	const char *text; /* NULL: end of the list */
};

static const struct allowed only_success[] = {{SL_OK, ""}, {0, NULL}};
static const struct allowed only_refusal[] = {{SL_OUTPUT_IN_USE, "is in use"}, {0, NULL}};

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
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	assert_true(hash_run(&folder, "out") == hash);
	remove_run(&folder, "out");
}

static void expect_same_run(void)
{
	expect_same(expected);
}

/* Starts the run and, after a delay, another program, which must end as allowed. */
static void start_both(const char *const *other, const struct allowed *allowed)
{
	for (int i = 0; i < rounds; i++) {
		struct running first, second;

		start(RUN, &first);
		sleep_for(0.1 * i / rounds);
		start(other, &second);
		end(&first, "the run", only_success);
		end(&second, other[1], allowed);
		expect_same_run();
	}
}

/* Either can be the first to take the lock; the other is refused, or finds a complete run. */
TEST(two_runs_in_one_directory_do_not_mix)
{
	static const struct allowed either[] = {
		{SL_OK, ""}, {SL_OUTPUT_IN_USE, "is in use"}, {0, NULL}};

	for (int i = 0; i < rounds; i++) {
		struct running first, second;
		int code;

		start(RUN, &first);
		sleep_for(0.1 * i / rounds);
		start(RUN, &second);
		code = end(&first, "the first run", either);
		end(&second, "the second run", code == SL_OK ? either : only_success);
		expect_same_run();
	}
}

TEST(verify_reads_a_growing_run)
{
	static const struct allowed allowed[] = {{SL_OK, ""},
		{SL_CHECK_FAILED, "because the run has not ended"},
		{SL_DISK, "No such file or directory"}, {0, NULL}};

	start_both(WORDS("verify", "out", "--quiet"), allowed);
}

TEST(convert_reads_a_growing_run)
{
	static const struct allowed allowed[] = {{SL_OK, ""},
		{SL_BAD_INPUT, "the directory has no committed batches"},
		{SL_USAGE, "not a run directory"}, {0, NULL}};

	start_both(WORDS("convert", "out", "--to", "all.npz", "--quiet"), allowed);
}

/* A stopped run keeps its lock: another one is refused at once, and does not wait. */
TEST(a_stopped_run_keeps_its_lock)
{
	for (int i = 0; i < rounds; i++) {
		struct running first, second;

		start(RUN, &first);
		while (access(folder_path(&folder, "out/manifest.jsonl"), F_OK) != 0)
			sleep_for(0.001);
		kill(first.pid, SIGSTOP);
		waitpid(first.pid, NULL, WUNTRACED);
		start(RUN, &second);
		end(&second, "the second run", only_refusal);
		kill(first.pid, SIGCONT);
		end(&first, "the first run", only_success);
		expect_same_run();
	}
}

/* The system releases the lock of a killed run, so the next run continues it at once. */
TEST(a_killed_run_releases_its_lock)
{
	for (int i = 0; i < rounds; i++) {
		struct running first;
		struct ending e;

		start(RUN, &first);
		sleep_for(0.1 * i / rounds);
		kill(first.pid, SIGKILL);
		process_wait(&first, HANG_SECONDS, &e);
		process_free(&e);
		expect(&folder, SL_OK, "", RUN);
		expect_same_run();
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

	for (int i = 0; 2 * i < rounds; i++) {
		struct running r;
		int sent = 0;

		for (int reads = 0; reads < 2; reads++) {
			start(reads ? verify : RUN_H5, &r);
			for (int k = 0; !reads && k < 2000 && !signal_children(r.pid, 0); k++)
				sleep_for(0.001);
			sleep_for(0.2 * i / rounds);
			sent += signal_children(r.pid, signals[i % SIGNALS]);
			end(&r, reads ? "verify" : "the run", only_success);
		}
		expect_same(expected_h5);
		print_message("signal %d: %d children\n", signals[i % SIGNALS], sent);
	}
}

/* Ctrl-Z stops the program; its children, which ignore it, end their files. */
TEST(a_stopped_group_goes_on)
{
	for (int i = 0; 5 * i < rounds; i++) {
		struct running r;
		int how = 0;

		start(RUN_H5, &r);
		while (access(folder_path(&folder, "out/manifest.jsonl"), F_OK) != 0)
			sleep_for(0.001);
		kill(-r.pid, i % 2 ? SIGTSTP : SIGSTOP);
		waitpid(r.pid, &how, WUNTRACED);
		assert_true(WIFSTOPPED(how));
		kill(-r.pid, SIGCONT);
		end(&r, "the run", only_success);
		expect_same(expected_h5);
	}
}

TEST_FILE(argc, argv)
{
	if (argc == 2)
		rounds = atoi(argv[1]);
	return rounds <= 0 ? 1 : run_test_file(argv[0]);
}
