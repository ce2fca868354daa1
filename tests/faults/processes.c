/*
 * processes.c - kills at random moments, signals to a run and to its children, and several programs in one directory: no
 * result changes. trial.h says what must hold after each.
 *
 * The program that computes a run holds the lock of its directory; a second one is refused at once. Readers take no
 * lock: they see the batches that are committed. The second of two programs starts later in each round, so that it
 * meets every phase of the first. An argument is the number of rounds.
 */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cases/sampling.h"
#include "tests/support/program/fixture.h"
#include "tests/support/runs/trial.h"

static int rounds = 2;

#define RUN "run tiny.yaml --quiet --out out --set run.particles=2400 --set output.format="
#define CPU " --device cpu --threads 2"
#define SIX " --device cpu --threads 6"
#define DEVICE \
	" --device emulated --sort naive --deflate device --threads 6 --set output.columns=[]"
#define BARE   " --set output.columns=[]"
#define H5     RUN "openpmd" CPU
#define NPZ    RUN "npz" CPU
#define CSV    RUN "csv.gz" CPU
#define STOPS  RUN "openpmd --set stop.when=rel_error(hit)<0.1" SIX
#define JOINED RUN "mcpl.gz --set output.joined=true" BARE CPU
#define ORDER  RUN "mcpl --set output.order=run --set output.sample=20" BARE CPU
#define RESUME " --resume"

static const struct scenario runs[] = {
	{"openPMD", "", H5, H5 RESUME, NULL, THREADS},
	{"npz", "", NPZ, NPZ RESUME, NULL, THREADS},
	{"csv.gz", "", CSV, CSV RESUME, NULL, THREADS},
	{"a stop rule", "", STOPS, STOPS RESUME, NULL, THREADS},
	{"joined", "", JOINED, JOINED RESUME, NULL, THREADS},
	{"in order", "", ORDER, ORDER RESUME, NULL, THREADS},
	{"openPMD, device", "", RUN "openpmd" DEVICE, RUN "openpmd" DEVICE RESUME, NULL, THREADS},
	{"npz, device", "", RUN "npz" DEVICE, RUN "npz" DEVICE RESUME, NULL, THREADS},
	{"mcpl.gz, device", "", RUN "mcpl.gz" DEVICE, RUN "mcpl.gz" DEVICE RESUME, NULL, THREADS},
	{"convert", "", "convert list.mcpl.gz --to made.npz --quiet", NULL, NULL, 0},
};
enum { RUNS = sizeof(runs) / sizeof(*runs), NPZ_RUN = 1 };

/* --- kills ------------------------------------------------------------------------------------ */

/* Pseudo-random numbers in 0 .. 1 (Numerical Recipes' ranqd1, upper bits). */
static double random_fraction(void)
{
	static uint32_t state = 20240607;

	state = state * 1664525u + 1013904223u;
	return (double)(state >> 8) / (1 << 24);
}

/* Faults within one system call, between two calls, and in third-party code, where SL_FAULT does not reach. */
TEST(kills_at_random_moments)
{
	const int moments = sl_sampling_step(1) == 1 ? 40 : rounds;

	for (int i = 0; i < RUNS; i++) {
		double start, length;
		struct fault fault = {.env = {NULL}};
		struct tree now;
		struct ending e;

		trial_begin(&runs[i]);
		start = seconds_now();
		trial_run_with(&fault, NULL, false, &e, &now);
		length = seconds_now() - start;
		trial_finish(&fault, &e, &now);
		for (int k = 0; k < moments; k++) {
			fault.seconds = 1e-4 + random_fraction() * length;
			snprintf(fault.text, sizeof(fault.text), "a kill after %.6f s",
				fault.seconds);
			trial_run_with(&fault, NULL, true, &e, &now);
			trial.ended += e.signal == SIGKILL;
			trial_finish(&fault, &e, &now);
		}
		trial_end();
	}
}

/* --- signals to a run ------------------------------------------------------------------------- */

static int sent; /* the signal that send() sends */

static void send_it(void)
{
	assert_int_equal(kill(trial.pid, sent), 0);
}

/*
 * The run ends in order, and can be resumed. Returns false if it was complete: its threads may compute the last batches
 * before the main thread sees the signal.
 */
static bool expect_stop(const char *call)
{
	struct fault fault = {.env = {fault.text, NULL}, .at_stop = send_it};
	const struct tree_file *report;
	struct tree now;
	struct ending e;

	snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%s:stop", call);
	trial_run_with(&fault, NULL, false, &e, &now);
	if (e.code == SL_OK) {
		trial_check_ending(&fault, &e, &now);
		trial_finish(&fault, &e, &now);
		return false;
	}
	report = tree_find(&now, "out/run.json");
	if (e.code != 128 + sent || !report || !strstr(report->bytes, "\"state\": \"stopped\"") ||
		trial_is_finished(&now))
		fail_fault(&fault, "signal %d: exit code %d: %s", sent, e.code, e.err);
	process_free(&e);
	trial_run("verify out", strlen("verify out"), NULL, &e);
	if (e.code != SL_CHECK_FAILED || !strstr(e.err, "--resume to continue it"))
		fail_fault(&fault, "verify ended with %d: %s", e.code, e.err);
	trial_finish(&fault, &e, &now);
	return true;
}

TEST(signals_stop_a_run_in_order)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	static const char *const calls[] = {
		"file_rename:2", "file_append:1", "file_append:3", "file_append:7"};

	int n = 0, stopped = 0;

	trial_begin(&runs[NPZ_RUN]);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			if (i == k || sl_sampling_selects()) {
				sent = signals[i];
				n++;
				stopped += expect_stop(calls[k]);
			}
	assert_true(2 * stopped > n);
	trial_end();
}

/* Under nohup, SIGHUP is ignored. */
TEST(nohup_ignores_hangup)
{
	const struct fault fault = {"SL_FAULT=file_append:2:stop", {fault.text, NULL}, send_it, 0};
	struct tree now;
	struct ending e;

	trial_begin(&runs[NPZ_RUN]);
	sent = SIGHUP;
	signal(SIGHUP, SIG_IGN);
	trial_run_with(&fault, NULL, false, &e, &now);
	signal(SIGHUP, SIG_DFL);
	assert_int_equal(e.code, SL_OK);
	trial_check_ending(&fault, &e, &now);
	trial_finish(&fault, &e, &now);
	trial_end();
}

/* Other commands end at the first signal. */
TEST(interrupt_ends_verify)
{
	static const struct scenario verify = {"verify", H5, "verify out --quiet", NULL, NULL, 0};
	const struct fault fault = {"SL_FAULT=file_open:9:stop", {fault.text, NULL}, send_it, 0};
	struct tree now;
	struct ending e;

	trial_begin(&verify);
	sent = SIGINT;
	trial_run_with(&fault, NULL, false, &e, &now);
	assert_int_equal(e.code, 128 + SIGINT);
	trial_finish(&fault, &e, &now);
	trial_end();
}

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
	static const char end[] = "run.stop_before is nearly reached";

	expect(&folder, SL_STOPPED,
		"after 0 of 1 batches, because run.stop_before is nearly reached",
		WORDS("run", "slow.yaml", "--out", "slow", "--stop-before", "2 s"));
	assert_string_equal(run_json(&folder, "slow", "state"), "stopped");
	remove_run(&folder, "slow");
	expect(&folder, SL_STOPPED, end,
		WORDS("run", "c.yaml", "--out", "slow", "--stop-before", "2 s", "--set",
			"run.particles=4e8", "--set", "run.batch=2e5"));
	expect(&folder, SL_CHECK_FAILED, "--resume to continue it", WORDS("verify", "slow"));
	remove_run(&folder, "slow");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "slow", "--quiet", "--stop-before", "1000 s"));
	remove_run(&folder, "slow");
	expect(&folder, SL_USAGE, "run.stop_before",
		WORDS("run", "c.yaml", "--out", "slow", "--stop-before", "10"));
}

/* --- several programs ------------------------------------------------------------------------- */

static const char text[] = "run: {name: t, seed: 7, particles: 4000, batch: 100, threads: 2}\n"
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
static const struct allowed only_refusal[] = {{SL_OUTPUT_IN_USE, "is in use"}, {0, NULL}};
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
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
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

/* A stopped run keeps its lock: another one is refused at once, and does not wait. So does a stopped group of processes. */
TEST(stopped_runs_keep_their_lock_and_go_on)
{
	static const int signals[] = {SIGSTOP, SIGTSTP};

	for (int i = 0; i < 2 * rounds; i++) {
		struct running first, second;
		int how = 0;

		start(AGAIN_H5, &first);
		wait_for_file("out/manifest.jsonl");
		kill(i < rounds ? first.pid : -first.pid,
			signals[i % 2]); /* Ctrl-Z stops the group */
		waitpid(first.pid, &how, WUNTRACED);
		assert_true(WIFSTOPPED(how));
		start(AGAIN_H5, &second);
		end(&second, "the second run", only_refusal);
		kill(-first.pid, SIGCONT);
		end(&first, "the first run", only_success);
		expect_same(expected_h5);
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

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	write_slow(&folder, "slow.yaml");
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
