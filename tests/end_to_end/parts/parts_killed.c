/*
 * parts_killed.c - ten parts run as processes at the same time; half of them are killed at random
 * moments and started again. The joined run is that of one process. Parts that change while they are joined, and
 * joins that are killed or stopped.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/same_run.h"

enum { PARTS = 10, ROUNDS = 2 };

/* Each part has ten batches. */
static const char text[] =
	"run: {name: t, seed: 7, particles: 50000, batch: 500, threads: 1, device: cpu}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: [w:16]\n"
	"tallies: [w:16]\n";

/* Pseudo-random numbers in 0 .. 1 from a fixed seed (Numerical Recipes' ranqd1, upper bits). */
static double random_fraction(void)
{
	static uint32_t state = 20261125;

	state = state * 1664525u + 1013904223u;
	return (double)(state >> 8) / (1 << 24);
}

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
}

/* A part that is computed by a process. */
struct task {
	char part[32];
	struct running running;
	double until; /* when it is killed; 0: never */
};

#define PART(part) WORDS("run", "c.yaml", "--out", "parts", "--part", part, "--resume", "--quiet")

static void start(struct task *t, unsigned number, double seconds)
{
	const struct process p = {.argv = PART(t->part), .folder = folder.path};

	snprintf(t->part, sizeof(t->part), "%u/%d", number, PARTS);
	process_start(&p, &t->running);
	t->until = seconds > 0 ? seconds_now() + seconds : 0;
}

/* Kills the tasks in the order of their times. */
static void kill_in_time(const struct task task[PARTS])
{
	double now = 0;

	for (;;) {
		const struct task *next = NULL;

		for (int i = 0; i < PARTS; i++)
			if (task[i].until > now && (!next || task[i].until < next->until))
				next = &task[i];
		if (!next)
			return;
		now = next->until;
		if (now > seconds_now())
			sleep_for(now - seconds_now());
		kill(next->running.pid, SIGKILL);
	}
}

/* Waits for a task. Returns true if it was killed before its end. */
static bool finish(struct task *t)
{
	struct ending e;
	bool killed;

	process_wait(&t->running, HANG_SECONDS, &e);
	killed = e.signal == SIGKILL;
	if (killed)
		process_free(&e);
	else
		expect_ending(&e, SL_OK, "", PART(t->part));
	return killed;
}

/*
 * Runs all parts at the same time. Every other one is killed within so many seconds, unless it ends
 * before. Returns how many were killed.
 */
static unsigned run_at_once(double length)
{
	struct task task[PARTS];
	unsigned killed = 0;

	for (unsigned i = 0; i < PARTS; i++)
		start(&task[i], 1 + i, i % 2 == 0 ? random_fraction() * length : 0);
	kill_in_time(task);
	for (unsigned i = 0; i < PARTS; i++)
		killed += finish(&task[i]);
	return killed;
}

static void run_parts(unsigned of)
{
	for (unsigned i = 1; i <= of; i++) {
		char part[32];

		snprintf(part, sizeof(part), "%u/%u", i, of);
		expect(&folder, SL_OK, "", PART(part));
	}
}

TEST(killed_parts_are_resumed)
{
	unsigned killed = 0;
	double length;

	length = seconds_now();
	assert_int_equal(run_at_once(0), 0);
	length = seconds_now() - length;
	remove_run(&folder, "parts");
	for (int round = 0; round < ROUNDS; round++)
		killed += run_at_once(length);
	/* of 10 that were to be killed; some end before, mostly in the later rounds */
	assert_true(killed > 0);
	run_parts(PARTS);
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect_same_runs("joined", "whole");
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
	print_message("%u processes were killed\n", killed);
}

/* A join that is killed leaves parts that can be joined, and a directory that --force replaces. */
TEST(a_killed_join_can_be_repeated)
{
	const char *const *words = WORDS("join", "parts", "--out", "again", "--quiet", "--force");
	const struct process p = {.argv = words, .folder = folder.path};
	double length = seconds_now();

	expect(&folder, SL_OK, "", words);
	length = seconds_now() - length;
	for (int i = 0; i < 10; i++) {
		struct running r;
		struct ending e;

		process_start(&p, &r);
		sleep_for(random_fraction() * length);
		kill(r.pid, SIGKILL);
		process_wait(&r, HANG_SECONDS, &e);
		process_free(&e);
	}
	expect(&folder, SL_OK, "", words);
	expect_same_runs("again", "whole");
}

/* --- parts that change, and a join that is stopped ------------------------------------------------- */

/* Three parts of five batches each. */
static void make_three_parts(void)
{
	write_text(&folder, "c.yaml",
		"run: {name: t, seed: 7, particles: 3000, batch: 200, threads: 2, device: cpu}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 0.1 cm}}\n"
		"keep: transmitted\n");
	remove_run(&folder, "parts");
	remove_run(&folder, "joined");
	run_parts(3);
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
		"file_link:11:stop", "file_link:1+:18,file_map:11:stop"};
	struct ending e;

	make_three_parts();
	for (int k = 0; k < 2; k++) {
		call_changed(&folder, faults[k], replace_batch_11, words, &e);
		expect_ending(&e, SL_BAD_INPUT, "batch 11 is damaged", words);
		assert_false(folder_has(&folder, "joined"));
		run_parts(3); /* repairs it */
	}
	call_changed(&folder, "file_link:13:stop", start_part_again, words, &e);
	expect_ending(&e, SL_OK, "", words);
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
}

/* A signal ends the join in order: at whatever moment it comes, there is a whole run or nothing. */
TEST(a_stopped_join_leaves_nothing)
{
	const char *const *words = WORDS("join", "parts", "--out", "joined", "--quiet");
	const struct process p = {.argv = words, .folder = folder.path};
	double length;

	make_three_parts();
	length = seconds_now();
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
