/*
 * parts_killed.c - twenty parts run as processes at the same time; half of them are killed at random
 * moments and started again. The joined run is that of one process.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/runs/parts_check.h"

enum { PARTS = 20, ROUNDS = 3 };

/* Each part has ten batches. */
static const char text[] =
	"run: {name: t, seed: 7, particles: 400000, batch: 2000, threads: 1, device: cpu}\n"
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
	struct part_command command;
	struct running running;
	double until; /* when it is killed; 0: never */
};

static void start(struct task *t, unsigned number, double seconds)
{
	const struct process p = {.argv = t->command.words, .folder = folder.path};

	part_command(number, PARTS, NULL, &t->command);
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
		expect_ending(&e, SL_OK, "", t->command.words);
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
	/* of 30 that were to be killed; some end before, mostly in the later rounds */
	assert_true(killed > ROUNDS);
	run_parts(PARTS, NULL);
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect_same_run("joined", "whole");
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
	expect_same_run("again", "whole");
}
