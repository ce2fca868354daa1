/*
 * interrupts.c - a run that is interrupted by a signal or by its time limit ends soon, in order,
 * and can be resumed.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/cases/sampling.h"
#include "tests/support/runs/reference_run.h"

enum { BATCHES = 60 };

static const char text[] = "run: {name: t, seed: 7, particles: 300000, batch: 5000, threads: 2}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
	write_slow(&folder, "slow.yaml");
}

/* Processes that are ready to run: the mean of the last minute, or now if that is more. */
static double load_of_machine(void)
{
	FILE *f = fopen("/proc/loadavg", "r");
	double mean = 0;
	int now = 0;

	if (f) {
		if (fscanf(f, "%lf %*f %*f %d", &mean, &now) != 2)
			mean = now = 0;
		fclose(f);
	}
	return mean > now ? mean : now;
}

/* Seconds that the documentation allows. A sanitizer build or a busy machine may take longer. */
static int allowed_seconds(int seconds)
{
	double per_core = load_of_machine() / (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (is_quick())
		return 20 * seconds;
	return per_core <= 1 ? seconds : (int)(seconds * (1 + per_core));
}

/* --- signals ------------------------------------------------------------------------------- */

static size_t lines_in(const char *name)
{
	FILE *f = fopen(folder_path(&folder, name), "r");
	size_t lines = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines;
}

/* Starts a run into "out" and waits until this number of batches is committed. */
static void start(const char *const *words, size_t batches, struct running *r)
{
	const struct process p = {.argv = words, .folder = folder.path};

	process_start(&p, r);
	for (int i = 0; i < 60000; i++) {
		if (folder_has(&folder, "out/run.json") &&
			lines_in("out/manifest.jsonl") >= batches)
			return;
		sleep_for(1e-3);
	}
	fail_msg("the run does not get to %zu batches", batches);
}

/*
 * Sends a signal to a run in "out" when it has committed that many batches. On a busy machine the run
 * may finish first; then its files are removed and it starts again.
 */
static void interrupt(const char *const *words, int signal, size_t batches)
{
	struct running r;
	struct ending e;

	for (int tries = 1;; tries++) {
		start(words, batches, &r);
		assert_int_equal(kill(r.pid, signal), 0);
		process_wait(&r, allowed_seconds(10), &e);
		if (e.code != SL_OK || tries == 20)
			break;
		process_free(&e);
		remove_run(&folder, "out");
	}
	expect_ending(&e, 128 + signal, "--resume", words);
}

static void interrupt_at(int signal, size_t batches)
{
	size_t committed;

	interrupt(WORDS("run", "c.yaml", "--out", "out"), signal, batches);
	committed = lines_in("out/manifest.jsonl");
	assert_string_equal(run_json(&folder, "out", "state"), "stopped");
	assert_in_range(committed, batches, BATCHES - 1);
	assert_false(hash_run(&folder, "out") == reference_hash);
	expect(&folder, SL_CHECK_FAILED, "--resume to continue it", WORDS("verify", "out"));
	reference_run_resume();
}

/* Each signal is sent at one of the moments at least. */
TEST(signals_end_the_run_in_order)
{
	static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	static const size_t moments[] = {0, 1, 12, 25};

	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		for (size_t k = 0; k < sizeof(moments) / sizeof(moments[0]); k++)
			if (i == k || sl_sampling_selects())
				interrupt_at(stopping[i], moments[k]);
}

/* A run that is interrupted again and again still finishes. */
TEST(repeated_interrupts_leave_a_resumable_run)
{
	for (size_t k = 1; k < BATCHES; k += 12)
		interrupt(WORDS("run", "c.yaml", "--out", "out", "--resume"), SIGINT, k);
	reference_run_resume();
}

/*
 * A batch that takes minutes is discarded; a second signal ends the run without waiting for the
 * batch.
 */
TEST(interrupt_ends_a_long_batch)
{
	const char *const *words = WORDS("run", "slow.yaml", "--out", "out");

	for (int signals_sent = 1; signals_sent <= 2; signals_sent++) {
		double start_time;
		struct running r;
		struct ending e;

		start(words, 0, &r);
		sleep_for(0.3);
		start_time = seconds_now();
		assert_int_equal(kill(r.pid, SIGTERM), 0);
		if (signals_sent == 2) {
			sleep_for(0.2);
			assert_int_equal(kill(r.pid, SIGINT), 0);
		}
		process_wait(&r, allowed_seconds(30), &e);
		start_time = seconds_now() - start_time;
		expect_ending(&e, 128 + (signals_sent == 2 ? SIGINT : SIGTERM), "", words);
		assert_true(start_time < allowed_seconds(signals_sent == 2 ? 2 : 10));
		assert_false(folder_has(&folder, "out/t_000000.h5"));
		assert_int_equal(lines_in("out/manifest.jsonl"), 0);
		remove_run(&folder, "out");
	}
}

/* The time limit is kept, and does not matter if the run finishes earlier. */
TEST(time_limit_ends_the_run_in_order)
{
	const char *const *words =
		WORDS("run", "slow.yaml", "--out", "out", "--stop-before", "3 s");
	struct running r;
	struct ending e;
	size_t committed;

	start(words, 0, &r);
	process_wait(&r, allowed_seconds(4), &e);
	expect_ending(&e, SL_STOPPED,
		"after 0 of 1 batches, because run.stop_before is nearly reached", words);
	assert_string_equal(run_json(&folder, "out", "state"), "stopped");
	remove_run(&folder, "out");

	words = WORDS("run", "c.yaml", "--out", "out", "--stop-before", "4 s", "--set",
		"run.particles=4e8", "--set", "run.batch=2e5");
	start(words, 1, &r);
	process_wait(&r, allowed_seconds(5), &e);
	expect_ending(&e, SL_STOPPED, "run.stop_before is nearly reached", words);
	committed = lines_in("out/manifest.jsonl");
	assert_true(committed > 1);
	expect(&folder, SL_CHECK_FAILED, "--resume to continue it", WORDS("verify", "out"));
	remove_run(&folder, "out");

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--stop-before", "1000 s"));
	reference_run_resume();
	expect(&folder, SL_USAGE, "run.stop_before",
		WORDS("run", "c.yaml", "--out", "out", "--stop-before", "10"));
}

/* Other commands end at the first signal. */
TEST(interrupt_ends_verify)
{
	const struct process p = {.argv = WORDS("verify", "whole"), .folder = folder.path};
	bool ended = false;
	struct running r;
	struct ending e;

	for (int tries = 20; !ended && tries > 0;
		tries--) { /* a command may finish before the signal */
		process_start(&p, &r);
		sleep_for(0.05);
		kill(r.pid, SIGINT);
		process_wait(&r, allowed_seconds(10), &e);
		/* before the handler is installed, the signal itself ends the process */
		ended = e.code == 128 + SIGINT || e.signal == SIGINT;
		assert_true(ended || e.code == SL_OK);
		process_free(&e);
	}
	assert_true(ended);
}

/* Under nohup, SIGHUP is ignored. */
TEST(nohup_ignores_hangup)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet");
	struct sigaction ignore = {.sa_handler = SIG_IGN}, was;
	struct running r;
	struct ending e;

	sigaction(SIGHUP, &ignore, &was);
	start(words, 2, &r);
	sigaction(SIGHUP, &was, NULL);
	kill(r.pid, SIGHUP);
	process_wait(&r, HANG_SECONDS, &e);
	expect_ending(&e, SL_OK, "", words);
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
}
