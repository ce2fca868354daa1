/*
 * ranks_killed.c - a rank that is killed, fails or gets a signal ends the run of all ranks; committed batches
 * stay, and the run is resumed with another number of ranks, with the bytes of an uninterrupted one.
 */
#include <signal.h>
#include <string.h>

#include "tests/support/runs/ranks_check.h"
#include "tests/support/runs/same_run.h"

enum { BATCHES = 300, SECONDS_TO_END = 10 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 600000, batch: 2000, threads: 1, device: cpu}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.9, thickness: 1 cm}}\n"
	"keep: transmitted\nkey: [w:16]\ntallies: [w:16]\n";

#define RUN WORDS("run", "c.yaml", "--out", "ranks", "--quiet")

BEFORE_EACH()
{
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "whole", "--quiet"));
}

/* Resumes with some ranks, and compares with the run of one process. */
static void resume(unsigned ranks)
{
	expect_ranks(
		ranks, SL_OK, "", WORDS("run", "c.yaml", "--out", "ranks", "--quiet", "--resume"));
	expect_same_runs("ranks", "whole");
	expect(&folder, SL_OK, "", WORDS("verify", "ranks", "--quiet"));
	remove_run(&folder, "ranks");
}

/* Sends a signal to a rank of a run of three that has committed n batches; *e is how mpirun ended. */
static void send_signal(const char *const *options, const char *const *words, int number, size_t n,
	unsigned rank, struct ending *e)
{
	struct ranks_command c;
	struct running r;
	double start;

	ranks_command(3, options, words, &c);
	start_ranks(&c, &r);
	kill(find_rank(&r, "ranks", n, rank), number);
	start = seconds_now();
	process_wait(&r, HANG_SECONDS, e);
	if (seconds_now() - start > SECONDS_TO_END)
		fail_msg("the run ended %.1f s after the signal", seconds_now() - start);
}

/* mpirun kills the other ranks when one dies. Until then, batches were committed in order. */
TEST(a_killed_rank_ends_the_run)
{
	struct sl_manifest m;
	struct ending e;

	for (unsigned rank = 0; rank < 3; rank++) {
		send_signal(NULL, RUN, SIGKILL, 5 + 20 * rank, rank, &e);
		assert_int_not_equal(e.code, 0);
		process_free(&e);
		read_manifest(&folder, "ranks", &m);
		assert_true(m.in_order);
		for (size_t i = 0; i < m.n; i++)
			assert_int_equal(m.line[i].batch, i);
		sl_manifest_free(&m);
		resume(1 + rank);
	}
}

/* Without the help of mpirun, which does not see that the child of a shell has died. */
TEST(ranks_notice_a_lost_rank)
{
	for (unsigned rank = 0; rank < 3; rank += 2) {
		struct running r;

		start_ranks_in_shells(&r);
		(void)find_rank(&r, "ranks", 10, 0);
		lose_rank(rank);
		expect_lost_rank(&r, SECONDS_TO_END);
		resume(3);
	}
}

/* A batch system can suspend a job for longer than a rank may be silent. */
TEST(suspended_ranks_continue)
{
	enum { SECONDS_SUSPENDED = 8 };
	struct ranks_command c;
	struct running r;
	struct ending e;
	pid_t rank[3];

	ranks_command(3, NULL, RUN, &c);
	start_ranks(&c, &r);
	for (unsigned i = 0; i < 3; i++)
		rank[i] = find_rank(&r, "ranks", 5, i);
	for (unsigned i = 0; i < 3; i++)
		kill(rank[i], SIGSTOP);
	sleep_for(SECONDS_SUSPENDED);
	for (unsigned i = 0; i < 3; i++)
		kill(rank[i], SIGCONT);
	process_wait(&r, HANG_SECONDS, &e);
	expect_ending(&e, SL_OK, "", c.words);
	expect_same_runs("ranks", "whole");
}

/* SIGUSR1, which mpirun passes on, and which batch queues send before the end of a job. */
TEST(a_signal_to_any_rank_stops_the_run)
{
	struct sl_manifest m = {0};
	struct ending e;

	for (unsigned rank = 0; rank < 3; rank += 2) {
		send_signal(NULL, RUN, SIGUSR1, 10, rank, &e);
		assert_true(e.code >= 128);
		assert_non_null(strstr(e.err, "a signal asked it to stop"));
		assert_int_equal(times_in(e.err, "sluice: "), 1); /* the message is printed once */
		process_free(&e);
		read_manifest(&folder, "ranks", &m);
		assert_in_range(m.n, 10, BATCHES - 1);
		for (size_t i = 0; i < m.n; i++)
			assert_int_equal(m.line[i].batch, i);
		sl_manifest_free(&m);
		resume(2);
	}
}

/* A failure of one rank is that of the run: the exit code of all, and one message. */
TEST(a_failure_of_a_rank_is_reported_once)
{
	static const char *const fault[] = {"-x", "SL_FAULT=file_write:3:28", NULL};
	struct ranks_command c;
	struct running r;
	struct ending e;

	ranks_command(2, NULL, RUN, &c);
	add_rank(&c, fault, RUN);
	start_ranks(&c, &r);
	process_wait(&r, HANG_SECONDS, &e);
	assert_int_equal(e.code, SL_DISK);
	assert_int_equal(times_in(e.err, "sluice: "), 1);
	assert_non_null(strstr(e.err, "rank 2 on "));
	assert_non_null(strstr(e.err, "No space left on device"));
	process_free(&e);
	resume(3);
}
